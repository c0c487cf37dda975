"""Reading real rigs: bones, skin at rest, owners of transforms, and what the core makes of them.

The tables in `rig_tables` were not written from the program's answers.
"""

import contextlib

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import rig
from bl_ext.user_default.parametric_dynamics.core import anatomy, bodies
from bl_ext.user_default.parametric_dynamics.core.errors import CoreError
from bl_ext.user_default.parametric_dynamics.core.rotation import rotate, to_matrix
from mathutils import Matrix

from tests.blender.rig_tables import ALL, ANIMALS, CLOUDRIG, GAME, HEIGHTS, HELPERS, HUMANS, ODD, REHUNG, ROLES


def load(open_file, data, name):
    armature = open_file(data / name)[0]
    return armature, rig.read(bpy.context, armature)


@pytest.mark.parametrize("name", ALL)
def test_every_rig_is_read_and_weighed(name, open_file, data):
    for armature in open_file(data / name):
        skeleton = rig.read(bpy.context, armature)
        assert skeleton.names == tuple(bone.name for bone in armature.data.bones)
        figure = anatomy.analyse(skeleton)
        assert sorted(figure.order.tolist()) == list(range(len(skeleton.names)))
        axes = np.stack((figure.forward, figure.left, figure.up))
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-9)
        assert np.linalg.det(axes) > 0.0 and figure.size > 0.0
        mass = bodies.measure(skeleton, figure)
        assert mass.mass.sum() == pytest.approx(75.0, rel=1e-3)
        heavy = mass.mass > 0.0
        assert np.all(np.linalg.eigvalsh(mass.inertia[heavy]) > 0.0)
        assert np.all(np.isfinite(mass.com)) and np.all(np.linalg.norm(mass.com, axis=1) < 1.75)


@pytest.mark.parametrize("name", ROLES)
def test_roles(name, open_file, data):
    _, skeleton = load(open_file, data, name)
    figure = anatomy.analyse(skeleton)
    got = dict(zip(skeleton.names, figure.role, strict=True))
    assert {bone: got[bone] for bone in ROLES[name] if bone in got} == {
        bone: role for bone, role in ROLES[name].items() if bone in got
    }
    assert sum(bone in got for bone in ROLES[name]) >= 0.8 * len(ROLES[name])
    assert all(got[bone] == "helper" for bone in HELPERS if bone in got)
    expected = "biped" if name in HUMANS else "quadruped" if name in ANIMALS else "other"
    assert figure.kind == expected
    for bone, parent in REHUNG.get(name, {}).items():
        assert skeleton.names[figure.parent[skeleton.index(bone)]] == parent


def test_a_thumb_belongs_to_its_hand_whatever_its_name(open_file, data):
    """The knight's `Thumb.R` hangs on `Palm.L`."""
    _, skeleton = load(open_file, data, GAME + "quaternius/KnightCharacter.glb")
    figure = anatomy.analyse(skeleton)
    assert figure.role[skeleton.index("Thumb.R")] == "finger.L"


@pytest.mark.parametrize("name", [*HUMANS, *ANIMALS])
def test_figures_stand_upright_and_face_the_viewer(name, open_file, data):
    """Importers put every figure here upright with its face to -y, save for two that were made otherwise."""
    armature, skeleton = load(open_file, data, name)
    figure = anatomy.analyse(skeleton)
    world = np.array(armature.matrix_world.to_3x3().normalized())
    up, forward = world @ figure.up, world @ figure.forward
    if "fair1" in name:  # Z-up BVH: Blender lays it on its back... feet to the viewer
        assert up @ (0, -1, 0) > 0.99
    elif "armature_transform" not in name:  # that object is turned by odd angles
        assert up @ (0, 0, 1) > 0.95
        assert forward @ ((1, 0, 0) if "cesium" in name else (0, -1, 0)) > 0.9


@pytest.mark.parametrize("name", HEIGHTS)
def test_height(name, open_file, data):
    armature, skeleton = load(open_file, data, name)
    low, high = HEIGHTS[name]
    assert low < anatomy.analyse(skeleton).size * armature.matrix_world.median_scale < high


@pytest.mark.parametrize("name", HUMANS)
def test_renamed_humans_are_found_by_shape(name, open_file, data):
    armature, skeleton = load(open_file, data, name)
    before = anatomy.analyse(skeleton)
    for k, bone in enumerate(list(armature.data.bones)):
        bone.name = f"b{k}"
    after = anatomy.analyse(rig.read(bpy.context, armature))
    assert after.kind == before.kind == "biped"
    np.testing.assert_allclose([after.up, after.forward], [before.up, before.forward], atol=1e-6)
    assert after.size == pytest.approx(before.size, rel=0.02)
    limbs = ("upper_arm", "forearm", "thigh", "shin", "foot", "clavicle", "head")
    assert [r for r in after.role if r.startswith(limbs)] == [r for r in before.role if r.startswith(limbs)]
    core = [(a, b) for a, b in zip(after.role, before.role, strict=True) if b.startswith(("pelvis", "spine", "neck"))]
    # numbers may shift by one bone, as where the lowest spine bone has a name of the pelvis
    assert sum(a.split(".")[0] != b.split(".")[0] for a, b in core) <= 3


@pytest.mark.parametrize("name", HUMANS)
def test_human_proportions(name, open_file, data):
    _, skeleton = load(open_file, data, name)
    figure = anatomy.analyse(skeleton)
    mass = bodies.measure(skeleton, figure).mass / 75.0
    part = {}
    for role, m in zip(figure.role, mass, strict=True):
        part[role.split(".")[0]] = part.get(role.split(".")[0], 0.0) + m
    trunk = sum(part.get(k, 0.0) for k in ("pelvis", "spine", "clavicle", "hip"))
    assert 0.3 < trunk < 0.65
    assert 0.03 < part["head"] + part.get("neck", 0.0) < 0.25  # some heads here are a third of the figure
    assert 0.025 < part["upper_arm"] + part["forearm"] + part.get("hand", 0.0) < 0.3
    assert 0.13 < part["thigh"] + part["shin"] + part["foot"] < 0.5


@pytest.mark.parametrize("name", HUMANS)
def test_hinges_flex_the_way_people_do(name, open_file, data):
    _, skeleton = load(open_file, data, name)
    figure = anatomy.analyse(skeleton)
    for role, sense in (("shin.L", -1.0), ("shin.R", -1.0), ("forearm.L", 1.0), ("forearm.R", 1.0)):
        i = figure.bone(role)
        axis = rotate(skeleton.rotation[i], anatomy.hinge_axis(skeleton, figure, i))
        assert np.linalg.norm(axis) == pytest.approx(1.0)
        if role.startswith("shin"):
            assert axis @ figure.left > 0.9
        end = figure.bone(role.replace("shin", "foot").replace("forearm", "hand"))
        motion = np.cross(axis, skeleton.head[end] - skeleton.head[i])
        if "jog" not in name and "locomotions" not in name:  # at rest they run with arms and legs bent
            assert sense * (motion @ figure.forward) > 0.3 * np.linalg.norm(motion)


# -- skin at rest ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [GAME + "ozz_pab/pab_arnaud.fbx", GAME + "RobotExpressive.source.glb", ODD + "vrm_bone_child_mesh.blend"]
)
def test_skin_lies_where_the_rest_pose_shows_it(name, open_file, data):
    """Every vertex against the evaluated mesh in rest position; rigid parts and armature modifiers alike."""
    armature, skeleton = load(open_file, data, name)
    armature.data.pose_position = "REST"
    for item in bpy.context.scene.objects:
        if item.type == "MESH" and item.data.shape_keys:
            item.shape_key_clear()
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    to_armature = armature.matrix_world.inverted()
    shown = []
    for item in bpy.context.scene.objects:
        if item.type == "MESH" and (item.parent or item.modifiers) and item.data.polygons:
            mesh = item.evaluated_get(graph)
            matrix = to_armature @ mesh.matrix_world
            shown += [matrix @ v.co for v in mesh.to_mesh().vertices]
            mesh.to_mesh_clear()
    expected, got = np.array(shown), skeleton.skin.vertices
    assert len(got) == len(expected)
    extent = np.ptp(expected, axis=0).max()
    np.testing.assert_allclose(got[np.lexsort(got.round(9).T)].mean(axis=0), expected.mean(axis=0), atol=1e-4 * extent)
    np.testing.assert_allclose(got, expected, atol=1e-4 * extent)


def cube(name="Cube"):
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    made = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(made)
    return made


def two_bones():
    data = bpy.data.armatures.new("Rig")
    armature = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    a, b = data.edit_bones.new("a"), data.edit_bones.new("b")
    a.head, a.tail, b.head, b.tail = (0, 0, 0), (0, 0, 1), (0, 0, 1), (0, 0, 3)
    b.parent, b.use_connect = a, True
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


@pytest.mark.parametrize("relative", [False, True])
def test_a_part_on_a_posed_bone_is_read_at_rest(fresh_scene, relative):
    """Parented to b under a turned object, then the bone is posed: the read place is the one before posing."""
    armature, part = two_bones(), cube()
    armature.matrix_world = Matrix.Rotation(0.7, 4, "X") @ Matrix.Scale(2.0, 4)
    armature.data.bones["b"].use_relative_parent = relative
    part.parent, part.parent_type, part.parent_bone = armature, "BONE", "b"
    part.location = (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    at_rest = np.array(armature.matrix_world.inverted() @ part.matrix_world)
    armature.pose.bones["b"].rotation_quaternion = (0.7, 0.7, 0, 0)
    armature.pose.bones["a"].location = (1, 2, 3)
    bpy.context.view_layer.update()
    skin = rig.read(bpy.context, armature).skin
    corners = np.array([v.co for v in part.data.vertices])
    np.testing.assert_allclose(skin.vertices, corners @ at_rest[:3, :3].T + at_rest[:3, 3], atol=1e-5)
    assert set(skin.owner) == {1}


def test_owner_is_the_heaviest_bone_group(fresh_scene):
    armature, part = two_bones(), cube()
    for name, weights in (("a", [1, 1, 0.2, 0.2]), ("no bone", [9, 9, 9, 9]), ("b", [0.4, 0, 0.6, 0])):
        group = part.vertex_groups.new(name=name)
        for i, weight in enumerate(weights):
            group.add([i], weight, "REPLACE")
    part.modifiers.new("Armature", "ARMATURE").object = armature
    skin = rig.read(bpy.context, armature).skin
    assert skin.owner.tolist() == [0, 0, 1, 0, -1, -1, -1, -1]
    assert len(skin.triangles) == 12
    assert skin.bones[:, :2].tolist() == [[0, 1], [0, -1], [1, 0], [0, -1], *([[-1, -1]] * 4)]
    np.testing.assert_allclose(skin.weights[:4, :2], [[1, 0.4], [1, 0], [0.6, 0.2], [0.2, 0]], atol=1e-6)
    assert (skin.bones[:, 2:] == -1).all() and not skin.weights[:, 2:].any()


@pytest.mark.parametrize("deforms", [True, False])
def test_bones_that_do_not_deform_move_no_skin(fresh_scene, deforms):
    """Whatever their groups say: b, half a turn about z, takes as much of the mesh along as Blender shows."""
    armature, part = two_bones(), cube()
    armature.data.bones["b"].use_deform = deforms
    for name, weight in (("a", 0.4), ("b", 0.6)):
        part.vertex_groups.new(name=name).add(list(range(8)), weight, "REPLACE")
    part.modifiers.new("Armature", "ARMATURE").object = armature
    skin = rig.read(bpy.context, armature).skin
    armature.pose.bones["b"].rotation_quaternion = (0, 0, 1, 0)  # its y is up
    bpy.context.view_layer.update()
    shown = np.array([v.co for v in part.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices])
    share = (skin.weights * (skin.bones == 1)).sum(axis=1) / skin.weights.sum(axis=1)
    np.testing.assert_allclose(share, 0.6 if deforms else 0.0, atol=1e-6)
    np.testing.assert_allclose(shown, skin.vertices * (1.0 - 2.0 * share[:, None] * [1, 1, 0]), atol=1e-5)


@pytest.mark.parametrize("groups", [True, False])
@pytest.mark.parametrize("envelopes", [True, False])
@pytest.mark.parametrize("parented", [True, False])
def test_the_bones_that_move_a_mesh_are_those_that_blender_lets(fresh_scene, groups, envelopes, parented):
    """By groups, by envelopes where no group moves a vertex, or by nothing: posed, the mesh is where Blender has it."""
    armature, part = two_bones(), cube()
    armature.data.bones["a"].envelope_distance, armature.data.bones["b"].envelope_distance = 1.6, 2.5
    armature.data.bones["b"].envelope_weight, armature.data.bones["b"].head_radius = 0.7, 0.9
    part.vertex_groups.new(name="a").add([0, 1, 2, 3], 0.5, "REPLACE")
    part.vertex_groups["a"].add([5], 0.0, "REPLACE")  # in a group, though nothing moves it
    part.vertex_groups.new(name="b").add([2, 3], 0.25, "REPLACE")
    if parented:
        part.parent, part.parent_type = armature, "ARMATURE"  # Blender then takes both
    else:
        bends = part.modifiers.new("Armature", "ARMATURE")
        bends.object, bends.use_vertex_groups, bends.use_bone_envelopes = armature, groups, envelopes
    bpy.context.view_layer.update()
    skin = rig.read(bpy.context, armature).skin
    assert (skin is not None) == rig.is_skinned(part, armature) == (groups or envelopes or parented)
    armature.pose.bones["b"].rotation_quaternion = (0, 0, 1, 0)
    bpy.context.view_layer.update()
    shown = np.array([v.co for v in part.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices])
    if skin is None:
        np.testing.assert_allclose(shown, [v.co for v in part.data.vertices])
        return
    share = (skin.weights * (skin.bones == 1)).sum(axis=1) / np.maximum(skin.weights.sum(axis=1), 1e-9)
    np.testing.assert_allclose(shown, skin.vertices * (1.0 - 2.0 * share[:, None] * [1, 1, 0]), atol=1e-5)
    assert len(set(share.round(3))) > 1


@pytest.mark.parametrize("scale", [-1, 1], ids=["mirrored", "inside out"])
def test_a_part_has_its_faces_outward(fresh_scene, scale):
    armature, part = two_bones(), cube()
    part.parent, part.parent_type, part.parent_bone = armature, "BONE", "b"
    part.scale = (scale, 1, 1)
    if scale > 0:
        part.data.flip_normals()
    bpy.context.view_layer.update()
    skin = rig.read(bpy.context, armature).skin
    a, b, c = np.moveaxis(skin.vertices[skin.triangles], 1, 0)
    assert np.einsum("ti,ti->", a, np.cross(b, c)) / 6 == pytest.approx(8.0, rel=1e-5)


def test_huge_meshes_are_thinned_but_stay_closed():
    u, v = np.meshgrid(np.linspace(0, np.pi, 200), np.linspace(0, 2 * np.pi, 400, endpoint=False), indexing="ij")
    points = np.stack((np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)), -1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(199), np.arange(400), indexing="ij")
    a, b = i * 400 + j, i * 400 + (j + 1) % 400
    faces = np.concatenate([np.stack(t, -1).reshape(-1, 3) for t in ((a, a + 400, b), (b, a + 400, b + 400))])
    kept, thinned = rig.thin(points, faces, 30_000)
    assert len(kept) <= 30_000 and len(thinned) > 10_000
    x, y, z = np.moveaxis(points[kept][thinned], 1, 0)
    assert np.einsum("ti,ti->", x, np.cross(y, z)) / 6 == pytest.approx(4 / 3 * np.pi, rel=0.02)


def test_bones_are_in_armature_space(fresh_scene):
    armature = two_bones()
    armature.matrix_world = Matrix.Translation((5, 5, 5)) @ Matrix.Scale(3.0, 4)
    skeleton = rig.read(bpy.context, armature)
    np.testing.assert_allclose(skeleton.head, [[0, 0, 0], [0, 0, 1]], atol=1e-6)
    np.testing.assert_allclose(skeleton.tail, [[0, 0, 1], [0, 0, 3]], atol=1e-6)
    np.testing.assert_allclose(to_matrix(skeleton.rotation)[:, :, 1], [[0, 0, 1], [0, 0, 1]], atol=1e-6)
    assert skeleton.parent.tolist() == [-1, 0] and skeleton.skin is None and skeleton.deform.all()


# -- owners ----------------------------------------------------------------------------------------------------------


def test_constraints_and_drivers_own_bones(fresh_scene):
    armature = two_bones()
    a, b = armature.pose.bones["a"], armature.pose.bones["b"]
    assert rig.constraint_owners(armature) == {}
    b.constraints.new("LIMIT_ROTATION")
    muted = b.constraints.new("COPY_ROTATION")
    muted.target, muted.enabled = armature, False
    faded = b.constraints.new("COPY_ROTATION")
    faded.target, faded.influence = armature, 0.0
    bpy.context.view_layer.update()
    assert rig.constraint_owners(armature) == {}
    track = b.constraints.new("DAMPED_TRACK")
    track.name, track.target = "Look", cube()
    bpy.context.view_layer.update()
    assert rig.constraint_owners(armature) == {"b": "constraint 'Look'"}
    driver = a.driver_add("rotation_quaternion", 1).driver
    driver.expression = "0.1"
    armature.driver_add("location", 0)  # moves the object, no bone
    bpy.context.view_layer.update()
    assert rig.constraint_owners(armature)["a"] == "a driver on its rotation_quaternion"


def test_ik_owns_its_chain(fresh_scene):
    armature = two_bones()
    ik = armature.pose.bones["b"].constraints.new("IK")
    ik.name, ik.target, ik.chain_count = "Reach", cube(), 0
    bpy.context.view_layer.update()
    assert rig.constraint_owners(armature) == {"b": "constraint 'Reach'", "a": "constraint 'Reach' of bone 'b'"}
    ik.chain_count = 1
    assert set(rig.constraint_owners(armature)) == {"b"}


def test_owners_of_real_rigs(open_file, data):
    armature = open_file(data / CLOUDRIG)[0]
    owners = rig.constraint_owners(armature)
    assert owners["ORG-Thigh.L"] == "constraint 'Copy Transforms FK'" and len(owners) > 150
    armature = open_file(data / (ODD + "vrm_blender_2_40_to_2_93_unknown_constraint.blend"))[0]
    assert rig.constraint_owners(armature) == {}  # a type this Blender doesn't know moves nothing
    armature = open_file(data / (ODD + "RobotExpressive.blend"))[0]
    assert set(rig.constraint_owners(armature)) == {"UpperLeg.L", "LowerLeg.L", "UpperLeg.R", "LowerLeg.R"}


def test_linked_rigs_are_refused_with_the_cure(fresh_scene, tmp_path):
    two_bones()
    path = tmp_path / "library.blend"
    bpy.data.libraries.write(str(path), set(bpy.data.objects))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(path), link=True) as (source, target):
        target.objects = source.objects
    linked = bpy.data.objects["Rig"]
    bpy.context.scene.collection.objects.link(linked)
    with pytest.raises(CoreError, match=r"'Rig' is linked from .*Library Override > Make"):
        rig.require_editable(linked)
    local = linked.override_create(remap_local_usages=True)
    rig.require_editable(local)
    assert rig.read(bpy.context, local).names == ("a", "b")


def test_bones_whose_library_is_gone_are_refused_with_the_cure(demo, tmp_path):
    """It had been told to add bones."""
    library, path, name = tmp_path / "rig.blend", tmp_path / "shot.blend", demo.name
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = [name]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    wanted.objects[0].override_create(remap_local_usages=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    library.rename(tmp_path / "gone.blend")
    with contextlib.suppress(RuntimeError):  # it tells that the library is missing, and opens the file
        bpy.ops.wm.open_mainfile(filepath=str(path))
    armature = next(item for item in bpy.context.scene.objects if item.type == "ARMATURE")
    said = "The bones of 'Demo Character' are missing, for '.*rig.blend' can't be found. Put the file back or relocate"
    with pytest.raises(CoreError, match=said):
        rig.require_editable(armature)
