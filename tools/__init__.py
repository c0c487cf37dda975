"""What build.py is made of; standard library only, never part of the extension."""
