"""The built-in character is a closed, well-weighted body that really walks and waves; film strips leave no trace."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import demo_character, demo_motion, filmstrip

STRIDE_FRAMES = demo_motion.WALK_FRAMES
PACE = demo_motion.STRIDE / STRIDE_FRAMES  # m a frame


@pytest.fixture
def rig(character):
    return character


def body(rig):
    return next(child for child in rig.children if child.type == "MESH")


def points(rig):
    """(n, 3) vertices in the world, as evaluated."""
    evaluated = body(rig).evaluated_get(bpy.context.evaluated_depsgraph_get())
    found = np.empty(3 * len(evaluated.data.vertices), dtype=np.float32)
    evaluated.data.vertices.foreach_get("co", found)
    return found.reshape(-1, 3).astype(float)


def at_frames(frames, read):
    """What `read()` gives at each frame."""
    values = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        values.append(read())
    return np.array(values)


def joints(rig):
    return np.array([[*bone.head, *bone.tail] for bone in rig.pose.bones])


def play(rig, name):
    demo_character.assign(rig, bpy.data.actions[name])
    return range(1, 1 + {"Walk": STRIDE_FRAMES, "Wave": demo_motion.WAVE_FRAMES}[name])


def direction(rig, bone):
    bone = rig.pose.bones[bone]
    return np.array((bone.tail - bone.head).normalized())


def test_skeleton(rig):
    assert [bone.name for bone in rig.data.bones if not bone.use_deform] == ["root"]
    assert len(rig.data.bones) == 23
    assert {bone.rotation_mode for bone in rig.pose.bones} == {"QUATERNION"}
    for bone in rig.data.bones:
        if bone.name.endswith(".L"):
            other = rig.data.bones[bone.name[:-1] + "R"]
            np.testing.assert_allclose(other.head_local, np.array(bone.head_local) * (-1, 1, 1), atol=1e-6)
            assert bone.head_local.x > 0


def test_mesh_is_closed_and_faces_outwards(rig):
    mesh = body(rig).data
    uses = {}
    for face in mesh.polygons:
        for edge in face.edge_keys:
            uses[edge] = uses.get(edge, 0) + 1
    assert set(uses.values()) == {2}
    co = np.array([vertex.co for vertex in mesh.vertices])
    tris = np.array([[v[0], v[k], v[k + 1]] for v in (f.vertices for f in mesh.polygons) for k in (1, 2)])
    volume = np.einsum("ij,ij->i", co[tris[:, 0]], np.cross(co[tris[:, 1]], co[tris[:, 2]])).sum() / 6
    assert 0.065 < volume < 0.095  # m3: a clothed adult of 75 kg


def test_weights(rig):
    mesh = body(rig)
    deforming = {bone.name for bone in rig.data.bones if bone.use_deform}
    assert {group.name for group in mesh.vertex_groups} == deforming
    sums = [sum(g.weight for g in vertex.groups) for vertex in mesh.data.vertices]
    np.testing.assert_allclose(sums, 1.0, atol=1e-5)  # float32
    assert max(len(vertex.groups) for vertex in mesh.data.vertices) <= 4


def test_height_and_facing(rig):
    rig.animation_data.action = None
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    bpy.context.view_layer.update()
    co = points(rig)
    assert abs(co[:, 2].min()) < 1e-4
    assert 1.70 <= np.ptp(co[:, 2]) <= 1.85
    feet = co[co[:, 2] < 0.03]
    assert -feet[:, 1].min() > feet[:, 1].max()  # toes to -Y


def test_what_build_leaves(fresh_scene):
    rig = demo_character.build(bpy.context)
    scene = bpy.context.scene
    assert rig.animation_data.action.name == "Walk"
    assert bpy.data.actions["Wave"].use_fake_user
    assert (scene.render.fps, scene.frame_start, scene.frame_end) == (24, 1, 79)
    assert bpy.context.view_layer.objects.active == rig


@pytest.mark.parametrize("name", ["Walk", "Wave"])
def test_loop_closes_and_goes_on(rig, name):
    frames = play(rig, name)
    first, last, later = at_frames((1, frames[-1] + 1, 2 * frames[-1] + 1), lambda: joints(rig))
    np.testing.assert_allclose(last, first, atol=1e-5)
    np.testing.assert_allclose(later, first, atol=1e-5)
    half = at_frames((1, 1 + len(frames) // 2), lambda: joints(rig))
    assert np.abs(half[1] - half[0]).max() > 0.1


@pytest.mark.parametrize("name", ["Walk", "Wave"])
def test_feet_touch_the_floor(rig, name):
    lowest = at_frames(play(rig, name), lambda: points(rig)[:, 2].min())
    assert np.abs(lowest).max() < 0.015


@pytest.mark.parametrize(("bone", "start"), [("toe.L", 1), ("toe.R", 1 + STRIDE_FRAMES // 2)])
def test_planted_foot_goes_back_with_the_ground(rig, bone, start):
    play(rig, "Walk")
    # foot flat (0.12 of the stride) to toe off (0.62): the ball is on the floor
    frames = range(start + 4, start + 16)
    ball = at_frames(frames, lambda: np.array(rig.pose.bones[bone].head))
    np.testing.assert_allclose(np.diff(ball, axis=0), np.tile([0, PACE, 0], (len(frames) - 1, 1)), atol=2e-4)


def test_knees_bend_one_way_and_enough(rig):
    play(rig, "Walk")
    rest = {side: np.cross(*(np.array(rig.data.bones[b + side].vector) for b in ("thigh.", "shin."))) for side in "LR"}

    def flexion():
        bends = []
        for side in "LR":
            thigh, shin = direction(rig, "thigh." + side), direction(rig, "shin." + side)
            turn = np.array(rig.pose.bones["thigh." + side].matrix.to_3x3()
                            @ rig.data.bones["thigh." + side].matrix_local.to_3x3().inverted())
            hinge = turn @ rest[side]
            bends.append(np.degrees(np.arctan2(np.cross(thigh, shin) @ hinge / np.linalg.norm(hinge), thigh @ shin)))
        return bends

    bends = at_frames(range(1, STRIDE_FRAMES + 1), flexion)
    assert bends.min() > 2
    assert 50 < bends.max() < 75  # swing


def test_arms_swing_against_the_legs(rig):
    frames = play(rig, "Walk")
    reach = at_frames(frames, lambda: [rig.pose.bones[b].head.y for b in ("hand.L", "foot.L", "hand.R", "foot.R")])
    assert np.corrcoef(reach[:, 0], reach[:, 1])[0, 1] < -0.7
    assert np.corrcoef(reach[:, 2], reach[:, 3])[0, 1] < -0.7
    assert np.ptp(reach[:, 0]) > 0.3


def test_wave_raises_the_right_hand(rig):
    play(rig, "Wave")

    def above():
        bones = rig.pose.bones
        return bones["hand.R"].head.z - bones["upper_arm.R"].head.z, bones["hand.R"].tail.x, bones["hand.L"].head.z

    rise, across, left = at_frames(range(22, 60), above).T
    assert rise.min() > 0.05
    turns = np.sign(np.diff(across))
    assert (turns[1:] != turns[:-1]).sum() >= 4  # to and fro at least twice
    assert left.max() < 1.1
    assert at_frames((1,), above)[0, 0] < -0.3


def test_build_is_the_same_every_time(fresh_scene):
    first, second = demo_character.build(bpy.context), demo_character.build(bpy.context)
    assert bpy.context.view_layer.objects.active == second
    a, b = points(first), points(second)
    np.testing.assert_array_equal(a, b)
    assert np.ptp(a[:, 2]) > 1.6


# Film strip


def snapshot(scene):
    kinds = ("scenes", "objects", "meshes", "materials", "images", "fonts", "worlds", "cameras", "curves",
             "collections", "actions", "armatures", "lights")
    render = scene.render
    return {
        "data": {kind: sorted(getattr(bpy.data, kind).keys()) for kind in kinds},
        "users": {ob.name: ob.users for ob in bpy.data.objects},
        "scene": (scene.frame_current, scene.frame_subframe, scene.frame_start, scene.frame_end, scene.camera,
                  scene.world, render.engine, render.filepath, render.resolution_x, render.fps),
        "window": bpy.context.scene.name,
        "selection": (bpy.context.view_layer.objects.active, sorted(ob.name for ob in bpy.context.selected_objects)),
        "pose": {rig.name: [[round(v, 6) for row in bone.matrix for v in row] for bone in rig.pose.bones]
                 for rig in bpy.data.objects if rig.type == "ARMATURE"},
    }  # fmt: skip


def pixels(path):
    image = bpy.data.images.load(str(path))
    width, height = image.size
    values = np.empty(4 * width * height, dtype=np.float32)
    image.pixels.foreach_get(values)
    bpy.data.images.remove(image)
    return values.reshape(height, width, 4)[..., :3]


def halves(picture):
    """Upper and lower row of a strip of two, without the frame lines."""
    gap = filmstrip.GAP
    height = (len(picture) - 3 * gap) // 2
    return picture[2 * gap + height:2 * gap + 2 * height], picture[gap:gap + height]


def test_strip_shows_the_states_and_leaves_no_trace(rig, tmp_path):
    scene = bpy.context.scene
    scene.frame_set(7, subframe=0.25)
    before = snapshot(scene)
    states = [(name, lambda name=name: demo_character.assign(rig, bpy.data.actions[name])) for name in ("Wave", "Walk")]
    path = tmp_path / "strip.png"
    filmstrip.strip(path, bpy.context, [rig], (1, 30.5), states, tile=(120, 150))
    assert snapshot(scene) == before
    picture = pixels(path)
    assert picture.shape == (2 * 150 + 3 * filmstrip.GAP, 2 * 120 + 3 * filmstrip.GAP, 3)
    upper, lower = halves(picture)
    bodies = slice(0, int(150 * 0.85))  # without the captions on top
    assert (np.abs(upper - lower)[bodies].max(axis=2) > 0.1).mean() > 0.01
    left, right = np.split(upper[bodies, :240 + filmstrip.GAP], [120 + filmstrip.GAP], axis=1)
    assert (np.abs(left[:, :120] - right).max(axis=2) > 0.1).mean() > 0.01  # the frames differ


def test_strip_keeps_a_pose_that_has_no_key_yet(rig, tmp_path):
    bpy.context.scene.frame_set(7)
    rig.pose.bones["hand.L"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    bpy.context.view_layer.update()
    before = snapshot(bpy.context.scene)
    filmstrip.strip(tmp_path / "strip.png", bpy.context, [rig], (1, 14), [("", None)], tile=(60, 75))
    assert snapshot(bpy.context.scene) == before


def test_strip_marks_the_hit_from_its_frame_on(rig, tmp_path):
    path = tmp_path / "strip.png"
    filmstrip.strip(path, bpy.context, [rig], (1, 9), [("original", None), ("reaction", None)], tile=(120, 150),
                    hits=[(9, (-0.2, -0.1, 1.4), (0.3, 1.0, 0.0))])
    upper, lower = halves(pixels(path))
    red = [(part[..., 0] > 0.3) & (part[..., 0] > 2.5 * part[..., 1]) for part in (upper, lower)]
    assert not red[0].any()
    assert not red[1][:, :120].any()
    assert red[1][:, 120:].sum() > 20


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_strip_frames_a_subject_of_any_size(rig, tmp_path, scale):
    rig.scale = (scale,) * 3
    rig.location = (3 * scale, 0, 5 * scale)
    path = tmp_path / "strip.png"
    filmstrip.strip(path, bpy.context, [rig], (1, 14), [("", None)], tile=(120, 150), view="side")
    picture = pixels(path)
    red, _, blue = np.moveaxis(picture, 2, 0)
    shoes = np.argwhere((red > blue + 0.15) & (red > 0.3))
    assert len(shoes) > 40
    assert shoes[:, 0].min() < 40  # low in the tile


def test_strip_draws_bones_where_there_is_no_mesh(rig, tmp_path):
    bpy.data.objects.remove(body(rig))
    path = tmp_path / "strip.png"
    filmstrip.strip(path, bpy.context, [rig], (1, 14), [("", None)], tile=(120, 150), view="front")
    red, _, blue = np.moveaxis(pixels(path), 2, 0)
    assert (red > blue + 0.1).mean() > 0.01


def test_strip_cleans_up_when_a_state_fails(rig, tmp_path):
    before = snapshot(bpy.context.scene)

    def fail():
        raise RuntimeError("no such track")

    with pytest.raises(RuntimeError, match="no such track"):
        filmstrip.strip(tmp_path / "strip.png", bpy.context, [rig], (1, 9), [("a", fail)])
    assert snapshot(bpy.context.scene) == before
    assert not (tmp_path / "strip.png").exists()
