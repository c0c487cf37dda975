"""What the bones of the real rigs are, written down by reading their names and looking at the figures."""

GAME, MOCAP, ODD = "1_game_characters/", "2_mocap/", "3_odd_rigs/"
KAYKIT = [GAME + "kaykit/" + name for name in
          ("Med_General.glb", "Med_MovementBasic.glb", "Med_Simulation.glb", "manny_med_mod.gltf")]  # fmt: skip
PAB = [GAME + "ozz_pab/" + name for name in
       ("pab_arnaud.fbx", "pab_crossarms.fbx", "pab_jog.fbx", "pab_locomotions.fbx", "pab_walk.fbx")] + [
    ODD + "ozz_pab_skeleton_HIK.fbx"]  # fmt: skip
QUATERNIUS = [GAME + "quaternius/cyberpunk_Character.glb", GAME + "quaternius/KnightCharacter.glb",
              GAME + "RobotExpressive.source.glb", ODD + "RobotExpressive.blend"]  # fmt: skip
CMU = [MOCAP + "cmu/01_01_playground.bvh", MOCAP + "cmu/02_01_walk.bvh"]
SIMPLE_VRM = [ODD + f"vrm_{name}.blend" for name in
              ("armature_transform", "bone_child_mesh", "pose_rotation_scale_shape_key_skinned", "non_deform_root_bone",
               "blender_2_40_to_2_93_unknown_constraint")]  # fmt: skip
FULL_VRM = [GAME + "vrm/basic_armature_vrm1.vrm", ODD + "vrm_extra_intermediate_spine.blend",
            ODD + "vrm_rest_a_pose_t_position_pose.blend"]  # fmt: skip
HUMANS = KAYKIT + PAB + QUATERNIUS + CMU + SIMPLE_VRM + FULL_VRM + [
    MOCAP + "animated_drawings/cmu1_jumping_jacks.bvh", MOCAP + "animated_drawings/fair1_wave_hello.bvh",
    GAME + "khronos/cesium_man.gltf"]  # fmt: skip
ANIMALS = [GAME + "khronos/Fox.glb"] + [ODD + f"quaternius_{name}.glb" for name in ("Wolf", "Apatosaurus")]
OTHERS = [ODD + name for name in
          ("quaternius_Spider.glb", "quaternius_Trex.glb", "ozz_robot.fbx", "gltf_03_skinned_cylinder.blend",
           "gltf_00_parented_to_bone_and_animated.blend", "gltf_26_nla_export_mode.blend",
           "gltf_29_armature_use_current_pose.blend")]  # fmt: skip
CLOUDRIG = ODD + "CloudRig_MetaRigs.blend"
ALL = HUMANS + ANIMALS + OTHERS + [CLOUDRIG]


def both(*rows):
    """Rows "bone=role" with @ for a side letter, or Left/Right at the start, for both sides."""
    out = {}
    for row in rows:
        bone, role = row.split("=")
        for letter, word in (("L", "Left"), ("R", "Right")):
            name = bone.replace("@", letter).replace("*", letter.lower()).replace("&", word)
            out[name] = role + "." + letter
    return out


MIXAMO_LEGS = both("&UpLeg=thigh", "&Leg=shin", "&Foot=foot")
ROLES = {
    **dict.fromkeys(
        KAYKIT,
        {"root": "root", "hips": "pelvis", "spine": "spine.1", "chest": "spine.2", "head": "head"}
        | both("upperarm.*=upper_arm", "lowerarm.*=forearm", "wrist.*=hand", "hand.*=finger", "upperleg.*=thigh",
               "lowerleg.*=shin", "foot.*=foot", "toes.*=toe"),
    ),
    **dict.fromkeys(
        PAB,
        {"Pelvis": "pelvis", "Spine": "spine.1", "Spine1": "spine.2", "Spine2": "spine.3", "Spine3": "spine.4",
         "Neck": "neck.1", "Head": "head", "Lefthand": "hand.L", "RightHand": "hand.R",
         "LeftHandRingPinky2": "finger.L", "RightHandPinky2": "finger.R"}
        | MIXAMO_LEGS | both("&FootThumb1=toe", "&Shoulder=clavicle", "&Arm=upper_arm", "&ForeArm=forearm",
                             "&HandThumb1=finger"),
    ),
    **dict.fromkeys(
        QUATERNIUS,
        {"Body": "pelvis", "Hips": "hip", "Abdomen": "spine.1", "Torso": "spine.2", "Neck": "neck.1", "Head": "head"}
        | both("Shoulder.@=clavicle", "UpperArm.@=upper_arm", "LowerArm.@=forearm", "UpperLeg.@=thigh",
               "LowerLeg.@=shin", "Foot.@=foot"),
    ),
    **dict.fromkeys(
        CMU,
        {"Hips": "pelvis", "LowerBack": "spine.1", "Spine": "spine.2", "Spine1": "spine.3", "Neck": "neck.1",
         "Neck1": "neck.2", "Head": "head", "LHipJoint": "hip.L", "RHipJoint": "hip.R", "LThumb": "finger.L"}
        | MIXAMO_LEGS | both("&ToeBase=toe", "&Shoulder=clavicle", "&Arm=upper_arm", "&ForeArm=forearm", "&Hand=hand",
                             "&FingerBase=finger"),
    ),
    **dict.fromkeys(
        SIMPLE_VRM + FULL_VRM,
        {"hips": "pelvis", "spine": "spine.1", "neck": "neck.1", "head": "head"}
        | both("upper_arm.@=upper_arm", "lower_arm.@=forearm", "hand.@=hand", "upper_leg.@=thigh", "lower_leg.@=shin",
               "foot.@=foot"),
    ),
    MOCAP + "animated_drawings/cmu1_jumping_jacks.bvh": {
        "Hips": "pelvis", "lowerback": "spine.1", "Chest": "spine.2", "Chest2": "spine.3", "lowerneck": "neck.1",
        "Neck": "neck.2", "Head": "head", "LHipJoint": "hip.L",
    } | both("&Hip=thigh", "&Knee=shin", "&Ankle=foot", "&Toe=toe", "&Collar=clavicle", "&Shoulder=upper_arm",
             "&Elbow=forearm", "&Wrist=hand"),
    MOCAP + "animated_drawings/fair1_wave_hello.bvh": {
        "Hips": "pelvis", "Spine": "spine.1", "Spine3": "spine.4", "Neck": "neck.1", "Head": "head",
    } | MIXAMO_LEGS | both("&ToeBase=toe", "&Shoulder=clavicle", "&Arm=upper_arm", "&ForeArm=forearm", "&Hand=hand"),
    # No names: the skin of this figure shows it (toes at +x, head on Node_20, arms from Node_16 and Node_13).
    GAME + "khronos/cesium_man.gltf": {
        "Node_2": "pelvis", "Node_11": "spine.1", "Node_12": "spine.2", "Node_19": "neck.1", "Node_20": "head",
        "Node_16": "upper_arm.L", "Node_17": "forearm.L", "Node_18": "hand.L", "Node_13": "upper_arm.R",
        "Node_7": "thigh.L", "Node_8": "shin.L", "Node_9": "foot.L", "Node_10": "toe.L", "Node_3": "thigh.R",
    },
    GAME + "khronos/Fox.glb": {
        "b_Hip_01": "pelvis", "b_Spine01_02": "spine.1", "b_Spine02_03": "spine.2", "b_Neck_04": "neck.1",
        "b_Head_05": "head", "b_Tail01_012": "tail.1", "b_Tail03_014": "tail.3", "b_LeftUpperArm_09": "upper_arm.L",
        "b_RightForeArm_07": "forearm.R", "b_LeftHand_011": "hand.L", "b_LeftLeg01_015": "thigh.L",
        "b_LeftLeg02_016": "shin.L", "b_LeftFoot01_017": "foot.L", "b_LeftFoot02_018": "toe.L",
    },
    ODD + "quaternius_Wolf.glb": {
        "Body": "root", "Back": "pelvis", "Torso": "spine.1", "Torso3": "spine.3", "Neck1": "neck.1", "Head": "head",
        "Tail8": "tail.8",
    } | both("FrontShoulder.@=clavicle", "FrontUpperLeg.@=upper_arm", "FrontLowerLeg.@=forearm", "IKFrontLeg.@=hand",
             "FF.@=finger", "BackShoulder.@=hip", "BackLeg.@=thigh", "BackUpperLeg.@=shin", "BackLowerLeg.@=foot",
             "IKBackLeg.@=toe", "FFB.@=toe", "Ear1.@=ear"),
    ODD + "quaternius_Apatosaurus.glb": {
        "root": "root", "Hips": "pelvis", "Torso": "spine.1", "Shoulders": "spine.2", "Neck": "neck.1", "Head": "head",
        "Back": "tail.1", "Tail5": "tail.6",
    } | both("BackLeg.@=hip", "BackUpLeg.@=thigh", "BackLowLeg.@=shin", "BackFoot.@=foot", "FrontLeg.@=clavicle",
             "FrontUpLeg.@=upper_arm", "FrontLowLeg.@=forearm", "FrontFoot.@=hand"),
    ODD + "quaternius_Trex.glb": {"root": "root", "Neck": "neck.1", "Head": "head", "Tail1": "tail.2"}
    | both("BackUpLeg.@=thigh", "BackLowLeg.@=shin", "BackFoot.@=foot", "FrontUpLeg.@=upper_arm"),
}  # fmt: skip
HELPERS = ("PoleTarget.L", "PT.L", "Weapon", "Bip01HeadNub", "Bip01 HeadNub", "Bip01LToe0Nub", "Bip01 R Toe0Nub",
           "handslot.l", "PoleTargetBack.R")  # fmt: skip

# (rig's name for a bone, its parent in the body) where the rig hangs it elsewhere
REHUNG = {
    **dict.fromkeys(QUATERNIUS, {"Foot.L": "LowerLeg.L", "Foot.R": "LowerLeg.R", "UpperLeg.L": "Body"}),
    **dict.fromkeys(PAB, {"LeftUpLeg": "Pelvis", "RightUpLeg": "Pelvis"}),
    ODD + "vrm_blender_2_40_to_2_93_unknown_constraint.blend": {"upper_arm.L": "chest", "upper_leg.R": "hips"},
    ODD + "quaternius_Wolf.glb": {"IKFrontLeg.L": "FrontLowerLeg.L", "IKBackLeg.R": "BackLowerLeg.R"},
    ODD + "quaternius_Apatosaurus.glb": {
        "FrontFoot.R": "FrontLowLeg.R",
        "FrontLeg.L": "Shoulders",
        "BackLeg.L": "Hips",
    },
}

# Height as Blender shows it [m]: SOURCES.md says 1.65 m for pab, 1.14 m bones for cyberpunk; meshes from the ground up.
HEIGHTS = {
    GAME + "ozz_pab/pab_arnaud.fbx": (1.75, 1.9),
    GAME + "kaykit/manny_med_mod.gltf": (2.1, 2.3),
    GAME + "quaternius/cyberpunk_Character.glb": (1.35, 1.5),
    GAME + "khronos/cesium_man.gltf": (1.45, 1.55),
    GAME + "vrm/basic_armature_vrm1.vrm": (1.55, 1.8),
    MOCAP + "cmu/02_01_walk.bvh": (23.0, 31.0),  # 1.3 to 1.75 m in units of 5.64 cm
    ODD + "RobotExpressive.blend": (4.0, 5.0),
}
