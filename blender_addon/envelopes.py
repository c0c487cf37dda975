"""Bones that move a mesh by their envelopes instead of its vertex groups."""

import numpy as np


def weights(armature, deforming, vertices):
    """(rows of the vertices, bones, weights) of all envelopes that reach them, each (N,).

    deforming: name -> index of the bones that count.  vertices: (V, 3) at rest, armature space.
    """
    found = [(np.empty(0, dtype=int), np.empty(0, dtype=int), np.empty(0))]
    for name, index in deforming.items():
        bone = armature.data.bones[name]
        reach = bone.envelope_weight * _falloff(bone, vertices)
        rows = np.flatnonzero(reach > 0.0)
        found.append((rows, np.full(len(rows), index), reach[rows]))
    return tuple(np.concatenate(column) for column in zip(*found, strict=True))


def _falloff(bone, vertices):
    """(V,) 1 within the bone's radii, 0 beyond its envelope's distance (distfactor_to_bone in armature_deform.cc)."""
    head, tail = np.array(bone.head_local), np.array(bone.tail_local)
    along = tail - head
    length = np.linalg.norm(along)
    part = np.clip((vertices - head) @ along / max(length * length, 1e-30), 0.0, 1.0)
    away = np.linalg.norm(vertices - head - part[:, None] * along, axis=-1)
    beyond = away - (part * bone.tail_radius + (1.0 - part) * bone.head_radius)
    fade = 1.0 - (beyond / bone.envelope_distance) ** 2 if bone.envelope_distance > 0.0 else np.zeros(len(away))
    return np.where(beyond < 0.0, 1.0, np.clip(fade, 0.0, 1.0))
