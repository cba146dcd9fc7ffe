import ArgumentParser
import Foundation
import Service
import Tactus

/// The command `tactus status`.
struct StatusCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "status",
      abstract:
        "Shows in a few lines how the daemon is, here or elsewhere: exit status 0 if there is nothing that a person has to do something about, else 1.",
      usage: DaemonOptions.usage("status [<host>] [--json] [<options>]"),
      discussion: """
        The first line says "ok", or what is wrong: a fault, an emergency stop, an output that has not confirmed that it is off, a device that does \
        not answer, an alert, an MQTT broker that is gone. Then every system with its state and what a person has to do about it, the guard, and \
        whether all loops are in time. `tactus top` has the figures.
        Without a token, where reading needs one, only the states are shown. \(DaemonOptions.tokens)
        """)
  }

  @Argument(help: "The daemon's name, address or URL. Unless given: this machine's daemon.")
  var host: String?

  @OptionGroup var daemon: DaemonOptions

  @Flag(help: "One JSON object for programs: the daemon's answers on /api/health, /api/status and /api/runtime.")
  var json = false

  func validate() throws {
    try daemon.address(of: host)
  }

  func run() throws {
    let (client, token) = try daemon.client(of: host)
    let address = client.address
    defer { client.stop() }
    let bell = try Doorbell()
    func answer(_ path: String) -> Result<ServiceClient.Answer, ServiceClient.Failure>? {
      client.ask(path, bell, limit: .seconds(5))
    }
    func body(_ path: String) -> [UInt8]? {
      guard case .success(let answer) = answer(path), answer.status == 200 else { return nil }
      return answer.body
    }
    let health: [UInt8]
    switch answer("/api/health") {
    case .success(let answer):
      if answer.status == 401 {
        complain("\(address): \(answer.refusal(hasToken: token != nil))")
        throw ExitCode.failure
      }
      health = answer.body
    case .failure(let failure):
      complain(failure.sentence(of: address, namedBy: "HOST"))
      throw ExitCode.failure
    case nil:
      complain("\(address): no answer")
      throw ExitCode.failure
    }
    let (status, runtime) = (body("/api/status"), body("/api/runtime"))
    guard let report = StatusReport(health: health, status: status, runtime: runtime) else {
      complain("what answers at \(address) is not \(DaemonProgram.current.name)")
      throw ExitCode.failure
    }
    if json {
      let parts = [("health", health), ("status", status), ("runtime", runtime)]
      print(
        "{"
          + parts.map { "\"\($0)\":" + ($1.map { String(decoding: $0, as: UTF8.self) } ?? "null") }.joined(
            separator: ",") + "}")
    } else {
      print(TopScreen.text(report.lines(host: "\(address)")))
    }
    if !report.isWell { throw ExitCode.failure }
  }
}
