import ArgumentParser
@_spi(FromOutside) import Conversions
import Foundation
import Service
import Tactus

/// The command `tactus record`.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract:
      "Writes what the flight recorder of a running daemon holds to a file: what every tick read, decided and wrote.",
    discussion: """
      The recorder runs always, in memory; runtime.recorder_kilobytes says how much it keeps. The file is for `tactus replay`. It holds what went \
      through mailboxes and ports, such as commands and sensor values, but no password and no token.
      \(DaemonOptions.tokens)
      Exit status: 0 written, 64 bad usage, 1 anything else.
      """)

  @Option(
    help: ArgumentHelp(
      "How far back the file goes at least, as far as it is kept: 30s, 10m. Unless given: all.", valueName: "span"))
  var last: TimeSpan?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The file to write, which must not exist. Unless given: named by the time.", valueName: "file"))
  var output: String?

  @OptionGroup var daemon: DaemonAtHost

  func run() throws {
    if let output { try NewFile.expectNone(at: output) }
    let (client, token) = try daemon.client()
    defer { client.stop() }
    let seconds = last.map { max(1, Int(($0.nanoseconds.count + 999_999_999) / 1_000_000_000)) }
    let path = "/api/recording" + (seconds.map { "?last=\($0)" } ?? "")
    switch client.ask("GET", path, most: Route.longestRecording, limit: .seconds(60)) {
    case .success(let answer) where answer.status == 200: try write(answer.body)
    case .success(let answer):
      complain("\(client.address): \(answer.refusal(hasToken: token != nil))")
      throw ExitCode.failure
    case .failure(let failure):
      complain(failure.sentence(of: client.address))
      throw ExitCode.failure
    }
  }

  private func write(_ bytes: [UInt8]) throws {
    let stamp = WallClock.text.prefix(19).filter { $0 != "-" && $0 != ":" }
    let output = output ?? "\(DaemonProgram.current.name)-\(stamp)Z.record"
    do {
      let recording = try Recording(bytes: bytes)
      try NewFile.write(bytes, to: output)
      let seconds = (recording.ends - recording.begins).inSeconds
      print(
        "\(output): \(bytes.count) bytes, the last \(String(format: "%.1f", seconds)) s of "
          + "\(recording.laneNames.joined(separator: ", ")). To run it again: "
          + "\(DaemonProgram.current.name) replay \(MakingToken.quoted(output)) --config FILE")
    } catch let error as RecordingError {
      complain("the daemon's answer is \(error)")
      throw ExitCode.failure
    }
  }
}

/// The command `tactus replay`.
struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Runs the ticks of a recording again, and compares what they decide and write with what is recorded.",
    discussion: """
      The scheduler and the loops are those of the daemon; what they read comes from the file, and nothing is written to a device. The program must \
      be the same build as the one that recorded, or one whose loops hold the same values, and FILE the configuration that it ran with. The first \
      difference of each lane is printed: loop, tick, field, both values. Replay only recordings that you trust: they hold the loops' memory.
      Exit status: 0 the same, 1 a difference, 65 not a recording, or not one of these loops, 78 bad configuration file.
      """)

  @Argument(help: "The recording, as `record` wrote it.")
  var recording: String

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The configuration file that the daemon ran with.", valueName: "file"))
  var config: String

  func run() throws {
    let configuration = try readConfiguration(config)
    let read: Recording
    do {
      let bytes = try readWhole(recording, most: Route.longestRecording, waitingForPipes: true) ?? []
      guard !bytes.isEmpty else {
        complain("\(recording): expected a recording, got no file or an empty one")
        throw ExitCode.badRecording
      }
      read = try Recording(bytes: bytes)
    } catch let error as FileFailure {
      complain("\(recording): \(error.reason)")
      throw ExitCode.failure
    } catch let error as RecordingError {
      complain("\(recording): \(error)")
      throw ExitCode.badRecording
    }
    let systems = try configuration.systems.all.compactMap { try $0.openForReplay() }
    let bell = try Doorbell()
    let lanes = systems.compactMap { system -> Lane? in
      let names = read.loopNames(of: system.name)
      return names.isEmpty ? nil : system.lane(bell: bell.button).only(names)
    }
    guard !lanes.isEmpty else {
      complain(
        "\(recording): it is of \(read.laneNames.joined(separator: ", ")); \(config) has none of them")
      throw ExitCode.badRecording
    }
    let replayed: Replayed
    let began = MonotonicClock.now
    do throws(RuntimeError) {
      replayed = try Runtime { lanes }.replay(read)
    } catch {
      complain("\(recording): \(error)")
      throw ExitCode.badRecording
    }
    withExtendedLifetime(systems) {}
    for difference in replayed.differences { print("\(recording): \(difference)") }
    let took = (MonotonicClock.now - began).inSeconds
    let span = (read.ends - read.begins).inSeconds
    print(
      "\(recording): \(replayed.ticks) ticks, \(replayed.bytes) bytes, \(String(format: "%.1f", span)) s in "
        + "\(String(format: "%.3f", took)) s: "
        + (replayed.differences.isEmpty ? "no difference" : "\(replayed.differences.count) lanes differ"))
    if !replayed.differences.isEmpty { throw ExitCode.failure }
  }
}

extension ExitCode {
  /// The exit status 65 for a file that is no recording of these loops (EX_DATAERR of sysexits.h).
  fileprivate static let badRecording = ExitCode(65)
}
