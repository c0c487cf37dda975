"""Parametric dynamics: articulated bodies steered by a clip.  Pure numpy, no bpy, no state.

Conventions (they live here and nowhere else)
    units        SI: metres, kilograms, seconds, radians; degrees only where a name ends in `_deg`
    axes         right-handed, z up
    transforms   `T_ab`, `R_ab` take coordinates from b to a; neighbouring letters cancel: T_wa @ T_ab
    rotations    unit quaternions wxyz; q and -q are the same rotation
    spatial      6-vectors [angular, linear] (Featherstone 2008); motion and force alike
    arrays       leading axes (batch...,) time, joint; the last axis is the vector
    frames       w world, p a body's anatomical parent, b the body (its origin is the joint that carries it)
"""
