import Robot
import Service
import TactusDaemon
import Wire

// The texts about the robot at the start of the program, and its entities in Home Assistant.
extension Robot {
  public static let driven: String? = "the motors"

  public static let callExamples: [String]? = [
    "robot", "robot drive left=30 right=30", "robot drive linear=0.25 angular=0.5", "robot look pan=90 tilt=40",
    "robot stop",
  ]

  public static func summary(_ wiring: Wiring, _ rules: Rules, address: String) -> [String] {
    let first = "robot: \(wiring.board), commands on UDP \(address):\(wiring.port), \(wiring.rateHertz) Hz"
    guard wiring.rosbridge else { return [first] }
    return [
      first,
      wiring.geometry == nil
        ? "robot: clients of ROS at /rosbridge cannot drive it: motors.wheel_base_m and motors.top_speed_m_per_s are missing"
        : "robot: clients of ROS at /rosbridge drive and read it in m/s and rad/s",
    ]
  }

  public static func invitation(_ wiring: Wiring, _ rules: Rules, _ start: ProgramStart) -> Invitation {
    let what = isSimulated(wiring) ? "simulated robot" : wiring.board + (start.isSimulated ? " (simulated)" : "")
    guard let endpoint = start.endpoints.first else { return Invitation(title: what) }
    let target = ReachableEndpoint(endpoint)
    let port = endpoint.port == 5005 ? "" : " --port \(endpoint.port)"
    // The last source keeps control for this time, during which no reset is accepted.
    let pause = rules.commandTimeoutSeconds + 1
    return Invitation(
      title: "\(what), motor commands on UDP \(endpoint)",
      lines: [
        "Drive it from another terminal:",
        "  \(start.program) drive \(target.host)\(port)",
        "  \(start.program) drive \(target.host)\(port) --left 30 --right 30 --for 2s",
        "Or send one command from Python when nobody drives any more; the motors stop by themselves, which it waits for:",
        "  python3 -c 'import socket, time; time.sleep(\(pause)); socket.socket(socket.\(target.family), socket.SOCK_DGRAM)"
          + ".sendto(b\"{\\\"left\\\": 30, \\\"right\\\": 30}\", (\"\(target.host)\", \(endpoint.port))); time.sleep(\(pause))'",
      ],
      calls: [.init(path: "/api/robot/drive", body: "{\"left\": 30, \"right\": 30}", pauseSeconds: pause)])
  }

  public static func entities(
    _ look: Look<Robot>, on topics: DeviceTopics, takesCommands: Bool
  ) -> [HomeAssistantEntity] {
    [
      .state(
        name, name: "Robot", of: name, attributes: ["fault", "wayOut", "emergencyStopped", "stopConfirmed"], on: topics)
    ]
  }

  /// The members of the state that change continually. `reason` is one of them because it counts the failures of a stop that is tried
  /// again and again.
  public static var movingMembers: Set<String> {
    ["ageMs", "speedsPercent", "motion", "reason", "retries", "ahead", "attitude", "panTilt", "line"]
  }
}

/// The row of the dashboard.
extension Robot: HasPanels {
  @DeclarationBuilder<Panel> public static var panels: [Panel] {
    Panel.alarm("Emergency stop", "emergency_stopped")
    Panel.states("State", "Each state is a row; it is drawn while the robot is in it.", width: 20) {
      Series("state")
    }
    Panel("Wheel speeds") {
      Series("wheel_speed_ratio")
    }
    Panel("Commands", unit: "reqps", from: 0) {
      Series("accepted_commands_total", "accepted")
      Series("ignored_commands_total", "ignored: {{reason}}", .ifAny)
      Series("malformed_datagrams_total", "malformed", .ifAny)
    }
    Panel(
      "Age of the last command",
      "Of the source that controls; no line while control is free. The motors stop when it reaches the failsafe timeout.",
      from: 0
    ) {
      Series("last_command_age_seconds")
    }
    Panel("Motor writes", unit: "wps", from: 0) {
      Series("motor_writes_total", "taken")
      Series("motor_write_failures_total", "failed")
      Series("bus_retries_total", "retried")
    }
  }
}
