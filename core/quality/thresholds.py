"""Generated on 2026-11-28 by tools/quality/derive.py from 18 clips of artists; not edited by hand.

Frozen: reactions of ours are graded by these numbers, never the other way round.  See docs/quality.md.
"""

# kind of figure: role: most swing, most twist, least and most bend, most across the hinge [deg]
RANGES: dict[str, dict[str, tuple[float, float, float, float, float]]] = {
    "quadruped": {
        "clavicle": (44.9, 29.9, -25.0, 25.0, 25.0),
        "foot": (100.0, 62.6, -25.0, 25.0, 25.0),
        "forearm": (30.6, 25.0, -25.0, 201.9, 56.1),
        "hand": (60.7, 41.3, -25.0, 25.0, 25.0),
        "head": (54.6, 59.6, -25.0, 25.0, 25.0),
        "neck": (42.5, 28.5, -25.0, 25.0, 25.0),
        "shin": (35.0, 25.7, -25.0, 224.5, 25.7),
        "spine": (66.7, 53.4, -25.0, 25.0, 25.0),
        "thigh": (133.1, 74.0, -25.0, 25.0, 25.0),
        "upper_arm": (88.7, 76.6, -25.0, 25.0, 25.0),
    },
    "biped": {
        "clavicle": (34.9, 19.9, -15.0, 15.0, 15.0),
        "foot": (90.0, 52.6, -15.0, 15.0, 15.0),
        "forearm": (15.0, 15.0, -15.0, 191.9, 46.1),
        "hand": (50.7, 31.3, -15.0, 15.0, 15.0),
        "head": (44.6, 49.6, -15.0, 15.0, 15.0),
        "neck": (21.3, 18.5, -15.0, 15.0, 15.0),
        "shin": (15.0, 15.0, -14.8, 214.5, 15.7),
        "spine": (56.7, 43.4, -15.0, 15.0, 15.0),
        "thigh": (123.1, 64.0, -15.0, 15.0, 15.0),
        "upper_arm": (78.7, 66.6, -15.0, 15.0, 15.0),
    },
}

# check: limit, and the line from which it is bad
LIMITS: dict[str, dict[str, tuple[float, float]]] = {
    "alone": {
        # artists 4; swapped 13.79, overbent 45.2, spun 113.3
        "limits": (8, 16),
        # artists 104.1; through_body 177.8
        "penetration": (208.2, 416.4),
        # artists 12.73
        "slip": (25.45, 50.9),
        # artists 3.625; sunk 12, floating 15
        "floating": (7.25, 14.5),
        # artists 2
        "sinking": (4, 8),
        # artists 80.61
        "balance": (161.2, 322.4),
        # artists 128.1
        "momentum": (256.1, 512.2),
        # artists 2.058
        "travel": (4.115, 8.231),
        # artists 338.6
        "speed": (677.1, 1354),
        # artists 8014
        "acceleration": (1.603e04, 3.206e04),
        # artists 1.931e+05
        "jerk": (3.862e05, 7.724e05),
        # artists 14.03
        "pop": (28.07, 56.13),
        # artists 3.782; pop_out 13.01, frozen 15.65, teleport 19.62
        "jump": (7.565, 15.13),
        # artists 0.15
        "frozen": (0.3, 0.6),
    },
    "beyond": {
        # artists 4; excessive (hit) 43.91, overbent 44.53, overbent (hit) 44.7, spun 73.55, spun (hit) 88.61
        "limits": (9.252, 18.99),
        # artists 29.68; through_body 136.9, through_body (hit) 137.8
        "penetration": (50.68, 80.17),
        # artists 8.244; sliding 12.69, sliding (hit) 12.69
        "slip": (9.893, 12.37),
        # artists 3.664
        "floating": (5.496, 10.99),
        # artists 4.044; sunk (hit) 12, sunk 12
        "sinking": (5.918, 8.201),
        # artists 4
        "balance": (6, 12),
        # artists 15; teleport (hit) 92.47, floating 147.4, floating (hit) 149.4, teleport 151.8
        "momentum": (28.35, 48.92),
        # artists 0.889; leaning (hit) 1.326, leaning 1.336
        "travel": (1.067, 1.334),
        # artists 318.3
        "speed": (477.4, 954.9),
        # artists 8005
        "acceleration": (1.201e04, 2.401e04),
        # artists 2.57e+04; trembling 9.89e+04
        "jerk": (4.119e04, 6.172e04),
        # artists 4; pop_in (hit) 14.59, pop_out (hit) 15.64, pop_in 16.71, pop_out 17.96
        "pop": (6.292, 9.277),
        # artists 3; frozen (hit) 10.2
        "jump": (4.605, 6.648),
        # artists 0.2; frozen 0.3667
        "frozen": (0.2473, 0.3),
        # artists 1; loose_start (hit) 20, loose_start 20, loose_end 20, loose_end (hit) 20
        "continuity": (2.853, 7.009),
        # artists 45.62
        "restraint": (68.44, 136.9),
        # artists 5.943; faint (hit) 4.084
        "response": (5.292, 4.734),
        # artists 33.78; wrong_way (hit) 115.9
        "direction": (52, 75.27),
        # the document's
        "settling": (2.7, 4),
        # artists 0.4833; too_fast (hit) 0.15
        "relaxation": (0.3667, 0.2667),
        # artists 0.5; wobbling (hit) 4.297, trembling (hit) 5.891
        "wobble": (1.062, 2.024),
        # artists -10.38; backward (hit) -22.81
        "spread": (-14.73, -18.46),
        # physics
        "gain": (0.2, 0.5),
    },
}
