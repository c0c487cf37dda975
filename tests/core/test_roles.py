"""Bone names of every school; what each bone is was written down from anatomy, not from the program's answer."""

import pytest

from core.roles import recognise

# school -> "name=role" with side; a name alone must have no role of the body; ? marks "any finger".
SCHOOLS = {
    "3ds Max Biped": """Bip01=root|Bip01 Footsteps=helper|Bip01 Pelvis=pelvis|Bip01 Spine=spine|Bip01 Spine1=spine
        |Bip01 Neck=neck|Bip01 Head=head|Bip01 HeadNub=helper|Bip01 L Clavicle=clavicle.L|Bip01 L UpperArm=upper_arm.L
        |Bip01 L Forearm=forearm.L|Bip01 L Hand=hand.L|Bip01 L Finger0=finger.L|Bip01 L Finger01=finger.L
        |Bip01 L Finger0Nub=helper|Bip01 R Thigh=thigh.R|Bip01 R Calf=shin.R|Bip01 R Foot=foot.R|Bip01 R Toe0=toe.R
        |Bip01 R Toe0Nub=helper|Bip01 Tail=tail""",
    "Mixamo": """mixamorig:Hips=pelvis|mixamorig:Spine=spine|mixamorig:Spine1=spine|mixamorig:Spine2=spine
        |mixamorig:Neck=neck|mixamorig:Head=head|mixamorig:HeadTop_End=helper|mixamorig:LeftShoulder=clavicle.L
        |mixamorig:LeftArm=upper_arm.L|mixamorig:LeftForeArm=forearm.L|mixamorig:LeftHand=hand.L
        |mixamorig:LeftHandThumb1=finger.L|mixamorig:LeftHandIndex4=finger.L|mixamorig:RightUpLeg=thigh.R
        |mixamorig:RightLeg=shin.R|mixamorig:RightFoot=foot.R|mixamorig:RightToeBase=toe.R
        |mixamorig:RightToe_End=helper""",
    "Rigify deform": """root=root|DEF-spine=spine|DEF-spine.001=spine|DEF-pelvis.L=hip.L|DEF-thigh.L=thigh.L
        |DEF-shin.L=shin.L|DEF-foot.L=foot.L|DEF-toe.L=toe.L|DEF-shoulder.L=clavicle.L|DEF-upper_arm.L=upper_arm.L
        |DEF-forearm.L=forearm.L|DEF-hand.L=hand.L|DEF-f_index.01.L=finger.L|DEF-thumb.01.L=finger.L
        |ORG-thigh.L=helper|MCH-thigh_ik.L=helper|thigh_ik.L=helper""",
    "Unreal": """root=root|pelvis=pelvis|spine_01=spine|spine_02=spine|neck_01=neck|head=head|clavicle_l=clavicle.L
        |upperarm_l=upper_arm.L|upperarm_twist_01_l=helper|lowerarm_l=forearm.L|hand_l=hand.L|index_01_l=finger.L
        |thigh_l=thigh.L|thigh_twist_01_l=helper|calf_l=shin.L|foot_l=foot.L|ball_l=toe.L|ik_foot_root=helper
        |ik_hand_gun=helper|ik_foot_l=helper""",
    "VRoid": """J_Bip_C_Hips=pelvis|J_Bip_C_Spine=spine|J_Bip_C_Chest=spine|J_Bip_C_UpperChest=spine|J_Bip_C_Neck=neck
        |J_Bip_C_Head=head|J_Bip_L_Shoulder=clavicle.L|J_Bip_L_UpperArm=upper_arm.L|J_Bip_L_LowerArm=forearm.L
        |J_Bip_L_Hand=hand.L|J_Bip_L_Index1=finger.L|J_Bip_R_UpperLeg=thigh.R|J_Bip_R_LowerLeg=shin.R
        |J_Bip_R_Foot=foot.R|J_Bip_R_ToeBase=toe.R|J_Adj_L_FaceEye=""",
    "Unity humanoid": """Hips=pelvis|Spine=spine|Chest=spine|UpperChest=spine|Neck=neck|Head=head|Jaw=jaw|LeftEye=eye.L
        |LeftShoulder=clavicle.L|LeftUpperArm=upper_arm.L|LeftLowerArm=forearm.L|LeftHand=hand.L
        |RightUpperLeg=thigh.R|RightLowerLeg=shin.R|RightFoot=foot.R|RightToes=toe.R""",
    "CMU motion capture": """
        Hips=pelvis|LHipJoint=hip.L|LeftUpLeg=thigh.L|LeftLeg=shin.L|LeftFoot=foot.L|LeftToeBase=toe.L
        |LowerBack=spine|Spine=spine|Spine1=spine|Neck=neck|Neck1=neck|Head=head|LeftShoulder=clavicle.L
        |LeftArm=upper_arm.L|LeftForeArm=forearm.L|LeftHand=hand.L|LeftFingerBase=finger.L|LThumb=finger.L
        |LeftHandIndex1=finger.L|RThumb=finger.R""",
    "joint names": """Hips=pelvis|LHipJoint=hip.L|LeftHip=thigh.L|LeftKnee=shin.L|LeftAnkle=foot.L|LeftToe=toe.L
        |lowerback=spine|Chest=spine|Chest2=spine|lowerneck=neck|Neck=neck|Head=head|LeftCollar=clavicle.L
        |LeftShoulder=upper_arm.L|LeftElbow=forearm.L|LeftWrist=hand.L|lhand=finger.L|LFingers=finger.L""",
    "Daz": """hip=pelvis|pelvis=pelvis|lThighBend=thigh.L|lThighTwist=helper|lShin=shin.L|lFoot=foot.L|lToe=toe.L
        |lMetatarsals=toe.L|abdomenLower=spine|abdomenUpper=spine|chestLower=spine|chestUpper=spine|lCollar=clavicle.L
        |lShldrBend=upper_arm.L|lShldrTwist=helper|lForearmBend=forearm.L|lForearmTwist=helper|lHand=hand.L
        |lThumb1=finger.L|lCarpal1=finger.L|neckLower=neck|neckUpper=neck|head=head|rShin=shin.R""",
    "KayKit": """
        root=root|hips=pelvis|spine=spine|chest=spine|upperarm.l=upper_arm.L|lowerarm.l=forearm.L|wrist.l=hand.L
        |hand.l=finger.L|handslot.l=helper|head=head|upperleg.r=thigh.R|lowerleg.r=shin.R|foot.r=foot.R|toes.r=toe.R""",
    "Quaternius": """Bone=root|Body=root|Hips=pelvis|Abdomen=spine|Torso=spine|Neck=neck|Head=head|Shoulder.L=clavicle.L
        |UpperArm.L=upper_arm.L|LowerArm.L=forearm.L|Palm1.L=hand.L|Thumb.L=finger.L|Middle1.L=finger.L
        |UpperLeg.L=thigh.L|LowerLeg.L=shin.L|Foot.L=foot.L|PoleTarget.L=helper|PT.L=helper""",
    "ProAnimationBank": """Pelvis=pelvis|Spine=spine|Lefthand=hand.L|LeftHandRingPinky1=finger.L|Bip01LFinger0Nub=helper
        |LeftFootThumb1=toe.L|Bip01LToe0Nub=helper|LeftUpLeg=thigh.L|LeftLeg=shin.L|LeftArm=upper_arm.L""",
    "demo": """root=root|pelvis=pelvis|spine.01=spine|spine.02=spine|spine.03=spine|neck=neck|head=head
        |clavicle.L=clavicle.L|upper_arm.L=upper_arm.L|forearm.L=forearm.L|hand.L=hand.L|thigh.R=thigh.R|shin.R=shin.R
        |foot.R=foot.R|toe.R=toe.R""",
    "quadruped": """Body=root|Back=spine|Torso2=spine|Neck1=neck|Ear1.L=ear.L|Tail3=tail|FrontShoulder.L=clavicle.L
        |FrontUpperLeg.L=upper_arm.L|FrontLowerLeg.L=forearm.L|FrontFoot.L=hand.L|BackShoulder.R=hip.R
        |BackUpperLeg.R=thigh.R|BackLowerLeg.R=shin.R|BackFoot.R=foot.R|IKFrontLeg.L=helper|PoleTargetBack.L=helper""",
    "Valve": """ValveBiped.Bip01_Pelvis=pelvis|ValveBiped.Bip01_Spine1=spine|ValveBiped.Bip01_L_UpperArm=upper_arm.L
        |ValveBiped.Bip01_R_Calf=shin.R|ValveBiped.Bip01_L_Finger11=finger.L""",
    "nothing": "Node_2=|Joint_One=|b0=|Ponytail1=|Cape_02=|breast.L=|skirt_l_01=",
}


def table(text):
    return [tuple(item.strip().split("=")) for item in text.split("|")]


@pytest.mark.parametrize("school", SCHOOLS)
def test_names_of_every_school(school):
    expected = table(SCHOOLS[school])
    hints = recognise([name for name, _ in expected])
    rows = zip(expected, hints, strict=True)
    got = {name: hint.role + ("." + hint.side if "." in role else "") for (name, role), hint in rows}
    assert got == dict(expected)


def test_a_shoulder_is_a_clavicle_only_beside_an_arm():
    with_arm = recognise(["LeftShoulder", "LeftArm", "LeftForeArm"])
    without = recognise(["LeftShoulder", "LeftElbow", "LeftWrist"])
    assert (with_arm[0].role, without[0].role) == ("clavicle", "upper_arm")


def test_a_leg_is_a_shin_only_below_a_thigh():
    assert [hint.role for hint in recognise(["LeftUpLeg", "LeftLeg"])] == ["thigh", "shin"]
    assert [hint.role for hint in recognise(["LeftLeg", "LeftFoot"])] == ["thigh", "foot"]


def test_words_that_only_contain_a_role_are_not_one():
    names = ["Headphones", "Legend", "Armor", "Spinel", "Handle.L", "Footer", "Forearmor"]
    assert [hint.role for hint in recognise(names)] == [""] * len(names)
