import Foundation
import TestSupport
import Testing

@Suite("GET /metrics, with every source", .ownThread)
struct WholePageTests {
  @Test(
    "promtool check metrics: nothing to say",
    .enabled(if: Promtool.path != nil, "promtool is not installed (apt install prometheus)"))
  func promtool() throws {
    let (status, said) = try Promtool.run(["check", "metrics"], input: try WholePage.text())
    #expect(status == 0 && said.isEmpty, "\(said)")
  }

  @Test("every source that there is has its place on the page that these tests look at")
  func everySource() throws {
    let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
    var declared: Set<String> = []
    for folder in ["Service", "Systems"] {
      let files = FileManager.default.enumerator(
        at: sources.appending(path: folder), includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        declared.formUnion(text.matches(of: /struct ([A-Za-z]+): MetricSource/).map { String($0.output.1) })
        declared.formUnion(
          text.matches(of: /enum ([A-Za-z]+):\s+(?:DeviceSystem|WithoutLoops)/).map { "HostedDoor<\($0.output.1)>" })
      }
    }
    let there = try WholePage.withSources { Set($0.map { String(describing: type(of: $0)) }) }
    #expect(declared == there)
  }

  @Test("a robot that drives: its state, speeds and counters")
  func robot() throws {
    let lines = try WholePage.text().split(separator: "\n")
    for line in [
      #"tactus_robot_state{state="driving"} 1"#, #"tactus_robot_state{state="stopped"} 0"#,
      "tactus_robot_emergency_stopped 0", #"tactus_robot_wheel_speed_ratio{wheel="left"} 0.5"#,
      #"tactus_robot_wheel_speed_ratio{wheel="right"} 0.25"#,
      #"tactus_robot_ignored_commands_total{reason="not-controller"} 0"#, "tactus_robot_malformed_datagrams_total 0",
    ] {
      let isThere = lines.contains(Substring(line))
      #expect(isThere, "\(line)")
    }
    #expect(lines.contains { $0.hasPrefix("tactus_robot_last_command_age_seconds 0.0") })
  }
}
