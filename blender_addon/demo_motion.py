"""The demo character's authored motions: a walk in place and a wave, one pose a frame at 24 fps.

Angles follow gait tables (Perry, Gait Analysis, 1992): heel strike at 0, foot flat at 0.12, heel off at 0.32, toe
off at 0.62 of the stride. Feet are exact: while a heel, a sole or a ball is on the floor it moves back with
the ground; the legs follow by two-bone IK.
"""

from bisect import bisect_right
from math import cos, pi, sin

from mathutils import Quaternion, Vector

from .demo_pose import Pose, turn

FPS = 24
WALK_FRAMES = 26            # intervals: the first and the last key are the same pose
STRIDE = 1.30               # m a full cycle (two steps): 1.20 m/s
WAVE_FRAMES = 84
TOE_OFF = 0.62
STRIKE_AT = -0.325          # m, the flat foot's place before its rest place at heel strike
STEP_HALF_WIDTH = 0.082     # m, ankle from the middle

HEEL = Vector((0.109, 0.074, 0.0))
FOOT_PITCH = ((0.0, -17), (0.05, -9), (0.12, 0), (0.29, 0), (0.40, 5), (0.50, 16), (0.56, 28), (TOE_OFF, 43),
              (0.67, 50), (0.74, 43), (0.83, 16), (0.91, -9), (0.97, -18))
TOES_FLAT = ((0.0, 0), (0.12, 0), (0.30, 1), (TOE_OFF, 1), (0.70, 0.6), (0.80, 0))


def curve(keys, phase):
    """Smooth periodic value between (phase, value) keys, without overshoot (Fritsch and Carlson 1980)."""
    phase %= 1.0
    n = len(keys)
    at = bisect_right([key[0] for key in keys], phase) - 1

    def key(i):
        return keys[i % n][0] + i // n, keys[i % n][1]

    def slope(i):
        (x0, y0), (x1, y1), (x2, y2) = key(i - 1), key(i), key(i + 1)
        before, after = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
        return 0.0 if before * after <= 0 else 2 * before * after / (before + after)

    (x0, y0), (x1, y1) = key(at), key(at + 1)
    return hermite((phase - x0) / (x1 - x0), y0, y1, slope(at) * (x1 - x0), slope(at + 1) * (x1 - x0))


def hermite(t, start, end, start_slope, end_slope):
    """Cubic from start to end for t in 0..1 with the given slopes per t."""
    s = 1 - t
    return (s * s * (1 + 2 * t) * start + t * t * (1 + 2 * s) * end
            + s * s * t * start_slope - t * t * s * end_slope)


def step(t):
    """0 to 1 with level ends; clamped."""
    t = min(max(t, 0.0), 1.0)
    return t * t * t * (10 - 15 * t + 6 * t * t)


def walk(figure):
    """Poses of one stride, the last equal to the first."""
    poses = [_walk_body(figure, k / WALK_FRAMES) for k in range(WALK_FRAMES)]
    feet = [{side: _walk_foot(figure, side, k / WALK_FRAMES + shift) for side, shift in (("L", 0.0), ("R", 0.5))}
            for k in range(WALK_FRAMES)]
    rise = min(pose.leg_slack(side, foot[side][0]) for pose, foot in zip(poses, feet, strict=True) for side in "LR")
    for pose, foot in zip(poses, feet, strict=True):
        pose.pelvis.z += rise
        for side in "LR":
            pose.plant(side, *foot[side], knee_out=4)
    return [*poses, poses[0]]


def _walk_body(figure, phase):
    """Everything above the legs; phase 0 is the left heel's strike."""
    pose = Pose(figure)
    once, twice = 2 * pi * phase, 4 * pi * phase
    pose.pelvis += Vector((0.020 * cos(once - 2 * pi * 0.31), 0.008 * cos(twice - 1.0),
                           0.013 * cos(twice - 4 * pi * 0.32)))
    yaw, drop = cos(once), sin(once - 2 * pi * 0.04)
    pose.turn("pelvis", x=4 + 1.0 * cos(twice), y=-4.0 * drop, z=-6 * yaw)
    pose.turn("spine.01", x=-1.5, y=1.8 * drop, z=4 * yaw)
    pose.turn("spine.02", x=-0.5 - 0.6 * cos(twice - 0.6), y=1.8 * drop, z=4.5 * yaw)
    pose.turn("spine.03", x=1.5 - 0.8 * cos(twice - 0.9), y=1.2 * drop, z=4.5 * yaw)
    pose.turn("neck", x=-1.0, y=-0.3 * drop, z=-3 * yaw)
    pose.turn("head", x=-2.0 + 0.8 * cos(twice - 1.2), y=-0.5 * drop, z=-3.5 * yaw)
    for side, shift in (("L", 0.5), ("R", 0.0)):                     # an arm goes with the other leg
        _walk_arm(pose, side, phase - shift)
    return pose


def _walk_arm(pose, side, phase):
    """Phase 0: the arm is foremost (a little later, as it hangs behind the shoulder's turn)."""
    forward = cos(2 * pi * (phase - 0.03))
    pose.turn("clavicle." + side, z=-2.5 * forward, y=1.5)
    pose.turn("upper_arm." + side, y=23 - 1.5 * forward)
    pose.turn("upper_arm." + side, z=-6)                             # elbows point back and out, palms in
    pose.turn("upper_arm." + side, x=-(1 + 21 * forward))
    pose.bend_elbow(side, 2 + 10 * (1 + cos(2 * pi * (phase - 0.07))))
    pose.turn_palm(side, 28)
    pose.turn("hand." + side, x=-4 * cos(2 * pi * (phase - 0.16)), y=4)


def _walk_foot(figure, side, phase):
    """Ankle, foot orientation and toe pitch at a phase of this foot's own stride."""
    phase %= 1.0
    pitch = curve(FOOT_PITCH, phase)
    ankle = _stance_ankle(figure, phase) if phase <= TOE_OFF else _swing_ankle(figure, phase)
    splay = 5.0
    if side == "R":
        ankle.x *= -1
    return ankle, turn(pitch, z=splay, side=side), -pitch * curve(TOES_FLAT, phase)


def _stance_ankle(figure, phase):
    """Left ankle while the foot rolls over heel, sole and ball, which go back with the ground."""
    rest, ball = figure.head["foot.L"], figure.head["toe.L"]
    pitch = curve(FOOT_PITCH, phase)
    pivot = HEEL if pitch < 0 else ball
    roll = turn(pitch, z=5.0)
    ankle = turn(z=5.0) @ (pivot - rest) + rest + roll @ (rest - pivot)
    return ankle + Vector((STEP_HALF_WIDTH - rest.x, STRIKE_AT + STRIDE * phase, 0.0))


def _swing_ankle(figure, phase):
    """Left ankle from toe off to heel strike: leaves and meets the floor with the floor's pace."""
    h = 1e-3
    off, strike = _stance_ankle(figure, TOE_OFF), _stance_ankle(figure, 0.0)
    off_slope = (off - _stance_ankle(figure, TOE_OFF - h)) / h * (1 - TOE_OFF)
    strike_slope = (_stance_ankle(figure, h) - strike) / h * (1 - TOE_OFF) * 0.4
    t = (phase - TOE_OFF) / (1 - TOE_OFF)
    ankle = Vector(hermite(t, *values) for values in zip(off, strike, off_slope, strike_slope, strict=True))
    ankle.z += 0.050 * sin(pi * t**0.6) ** 2                            # the toes clear the floor
    return ankle


def wave(figure):
    """Poses of a standing figure that greets with its right hand; the last equal to the first."""
    poses = [_wave_body(figure, k) for k in range(WAVE_FRAMES)]
    feet = {side: _standing_foot(figure, side) for side in "LR"}
    rise = min(pose.leg_slack(side, feet[side][0]) for pose in poses for side in "LR")
    for pose in poses:
        pose.pelvis.z += rise
        for side in "LR":
            pose.plant(side, *feet[side], knee_out=6 if side == "L" else 14)
    return [*poses, poses[0]]


def _standing_foot(figure, side):
    """The left foot carries the weight; the right one stands a little ahead and turned out."""
    ankle = figure.head["foot." + side].copy()
    ankle += Vector((-0.012, 0.01, 0.0)) if side == "L" else Vector((-0.03, -0.05, 0.0))
    return ankle, turn(z=7 if side == "L" else 18, side=side), 0.0


def _wave_body(figure, frame):
    pose = Pose(figure)
    raised = step((frame - 3) / 17) * (1 - step((frame - 62) / 19))
    breath = sin(2 * pi * frame / (WAVE_FRAMES / 2))
    sway = sin(2 * pi * frame / WAVE_FRAMES)
    swing = sin(2 * pi * (frame - 16) / 13) * step((frame - 12) / 8) * (1 - step((frame - 58) / 10))
    pose.pelvis += Vector((0.030 + 0.006 * sway, -0.012, 0.0025 * breath))
    pose.turn("pelvis", x=2, y=-3.5 - 0.6 * sway, z=3)
    pose.turn("spine.01", x=-1, y=2.0 + raised, z=-1)
    pose.turn("spine.02", x=-0.5 - 0.7 * breath, y=2.0 + 1.5 * raised, z=-1 + 0.6 * swing)
    pose.turn("spine.03", x=1.5 - 0.7 * breath, y=0.5 + 1.5 * raised, z=-2 + 1.2 * swing)
    pose.turn("neck", x=1, y=-1 - 2 * raised)
    pose.turn("head", x=-2 + 0.7 * breath - 2 * raised, y=-1 - 3 * raised + 0.8 * swing, z=-2 * raised)
    _hanging_arm(pose, "L", breath)
    _waving_arm(pose, breath, raised, swing)
    return pose


def _hanging_arm(pose, side, breath):
    pose.turn("clavicle." + side, y=1.5 - 0.6 * breath)
    pose.turn("upper_arm." + side, y=22.5 - 0.5 * breath)
    pose.turn("upper_arm." + side, z=-14)
    pose.turn("upper_arm." + side, x=2)
    pose.bend_elbow(side, 10)
    pose.turn_palm(side, 28)
    pose.turn("hand." + side, y=4)


def _waving_arm(pose, breath, raised, swing):
    """From hanging to a hand beside the head and back; while it is up the forearm swings from the elbow."""
    _hanging_arm(pose, "R", breath)
    bones = ("clavicle.R", "upper_arm.R", "forearm.R", "hand.R")
    hanging = {bone: pose.local[bone].copy() for bone in bones}
    pose.local.update(dict.fromkeys(bones, Quaternion()))
    pose.turn("clavicle.R", y=-12, z=-4)
    lean = 0.10 + 0.36 * swing
    pose.reach("R", (0.86, -0.34, -0.28 + 0.05 * swing), (lean, -0.30, 0.95))
    pose.turn("hand.R", y=-14 * swing)
    for bone in bones:
        late = raised if bone in bones[:2] else raised**1.5          # the forearm unfolds after the upper arm
        pose.local[bone] = hanging[bone].slerp(pose.local[bone], late)
