import Fan
import TactusSwarm

SwarmProgram(name: "fan-swarm", systems: systems).main()
