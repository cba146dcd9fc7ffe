import LegSwarm
import PlantsSwarm
import PumpSwarm
import RobotSwarm
import SprinklerSwarm
import TactusSwarm
import VideoSwarm

// In the order of the daemon's own list.
SwarmProgram(name: "tactus-swarm", members: [.robot, .video, .leg, .sprinkler, .plants, .pump]).main()
