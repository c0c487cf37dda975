"""F-curves by the hundred: read their keys in bulk, evaluate them as Blender would, all at once."""

import numpy as np

CONSTANT, LINEAR, BEZIER = 0, 1, 2

# Blender takes a key within this many frames of the asked one as the asked one.
KEY_SNAP = 1e-4


def sample(curves, frames):
    """(C, T) values of the f-curves at the frames (T,), equal to `fcurve.evaluate` within float32.

    Keys with constant, linear and Bézier segments between them are evaluated together in numpy; curves with
    modifiers, easing, linear extrapolation in use or baked samples one frame at a time by Blender.
    """
    frames = np.asarray(frames, dtype=np.float32).astype(np.float64)
    values = np.empty((len(curves), len(frames)))
    plain = _Segments(frames)
    for row, curve in enumerate(curves):
        if not plain.add(row, curve):
            values[row] = [curve.evaluate(frame) for frame in frames.tolist()]
    plain.evaluate(values)
    return values


class _Segments:
    """Keys of many curves joined end to end, and for each curve and frame the key that begins its segment."""

    def __init__(self, frames):
        self.frames, self.low, self.high = frames, frames.min(), frames.max()
        self.rows, self.keys, self.kinds, self.handles, self.begin = [], [], [], [], []
        self.count = 0

    def add(self, row, curve):
        """Take the curve if its keys alone say everything; False if Blender has to evaluate it."""
        points = curve.keyframe_points
        n = len(points)
        if n == 0 or len(curve.modifiers):
            return False
        keys = np.empty(2 * n, dtype=np.float32)
        points.foreach_get("co", keys)
        x = keys[0::2]
        if curve.extrapolation == "LINEAR" and (self.low < x[0] or self.high > x[-1]):
            return False
        kinds = np.empty(n, dtype=np.int32)
        points.foreach_get("interpolation", kinds)
        if kinds[:-1].max(initial=0) > BEZIER or (n > 1 and np.min(x[1:] - x[:-1]) < 0.0):
            return False
        handles = np.empty((2, 2 * n), dtype=np.float32)
        if BEZIER in kinds:
            points.foreach_get("handle_left", handles[0])
            points.foreach_get("handle_right", handles[1])
        begin = np.searchsorted(x, self.frames + KEY_SNAP, side="right") - 1
        self.rows.append(row)
        self.keys.append(keys)
        self.kinds.append(np.where(np.arange(n) < n - 1, kinds, CONSTANT))
        self.handles.append(handles)
        self.begin.append(np.maximum(begin, 0) + self.count)
        self.count += n
        return True

    def evaluate(self, values):
        """Write the curves' values into their rows of values (C, T)."""
        if not self.rows:
            return
        keys = np.concatenate(self.keys).astype(np.float64).reshape(-1, 2)
        kinds = np.concatenate(self.kinds)
        begin = np.stack(self.begin)
        end = np.minimum(begin + 1, len(keys) - 1)
        frame = np.broadcast_to(self.frames, begin.shape)
        x0, y0 = keys[begin, 0], keys[begin, 1]
        span = keys[end, 0] - x0
        # Before the first key, on a key, after the last one and on constant segments: the key's value.
        held = (kinds[begin] == CONSTANT) | (frame - x0 <= KEY_SNAP) | (span <= 0.0)
        part = np.where(held, 0.0, (frame - x0) / np.where(span > 0.0, span, 1.0))
        out = y0 + part * (keys[end, 1] - y0)
        curved = (kinds[begin] == BEZIER) & ~held
        if curved.any():
            handles = np.concatenate(self.handles, axis=1).astype(np.float64).reshape(2, -1, 2)
            a, b = begin[curved], end[curved]
            out[curved] = _bezier(frame[curved], keys[a], handles[1, a], handles[0, b], keys[b])
        values[self.rows] = out


def _bezier(frame, p0, p1, p2, p3):
    """Height at `frame` (K,) of the Bézier segments with the control points p0 ... p3 (K, 2)."""
    span = p3[:, 0] - p0[:, 0]
    out_arm, in_arm = p1 - p0, p2 - p3
    # Blender shortens a handle that is longer than the segment, so that the curve stays a function of time.
    out_arm = out_arm * np.minimum(1.0, span / np.maximum(np.abs(out_arm[:, 0]), 1e-30))[:, None]
    in_arm = in_arm * np.minimum(1.0, span / np.maximum(np.abs(in_arm[:, 0]), 1e-30))[:, None]
    x1, x2 = out_arm[:, 0] / span, 1.0 + in_arm[:, 0] / span
    t = _solve(x1, x2, (frame - p0[:, 0]) / span)
    s = 1.0 - t
    y0, y1, y2, y3 = p0[:, 1], p0[:, 1] + out_arm[:, 1], p3[:, 1] + in_arm[:, 1], p3[:, 1]
    return s * s * s * y0 + 3.0 * s * t * (s * y1 + t * y2) + t * t * t * y3


def _solve(x1, x2, x):
    """t in 0...1 with the cubic (0, x1, x2, 1) at x, each (K,): Newton's steps inside a shrinking bracket."""
    c, b, a = 3.0 * x1, 3.0 * (x2 - 2.0 * x1), 1.0 + 3.0 * (x1 - x2)
    low, high, t = np.zeros_like(x), np.ones_like(x), x.copy()
    for _ in range(50):
        error = ((a * t + b) * t + c) * t - x
        if np.max(np.abs(error)) < 1e-12:
            break
        high = np.where(error > 0.0, t, high)
        low = np.where(error < 0.0, t, low)
        slope = (3.0 * a * t + 2.0 * b) * t + c
        step = t - error / np.where(np.abs(slope) > 1e-12, slope, 1e-12)
        t = np.where((step > low) & (step < high), step, 0.5 * (low + high))
    return t
