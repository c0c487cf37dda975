"""How the quality metric's thresholds are made and shown; not part of the product.  See docs/quality.md."""
