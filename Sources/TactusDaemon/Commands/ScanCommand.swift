import ArgumentParser
@_spi(FromOutside) import Conversions
import Foundation
import Service
import Tactus

extension ScanKind: ExpressibleByArgument {}

/// The command `tactus scan`.
struct ScanCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    let name = DaemonProgram.current.name
    return CommandConfiguration(
      commandName: "scan",
      abstract:
        "Finds devices: on the air, the I2C buses, serial lines, sensors of the kernel, cameras and the network, and which key they are for.",
      discussion: """
        Without a kind it looks everywhere. Nothing is changed by looking: an I2C address is asked by a read of one byte, those at \
        which that can do harm are left out, and a bus that another program has open is not asked unless you say so.
          \(name) scan i2c serial
          \(name) scan --config FILE --write KEY          what is found for KEY, chosen at the terminal if it is several
          \(name) scan --config FILE --write KEY=VALUE    a value that a scan has shown
        Writing shows the difference first and asks. Comments and order of the file stay, and what would not pass \
        \(name) check is not written. A daemon takes it by \(name) reload, or at its next start.
        Exit status: 0 done, found or not; 1 not written; 64 bad usage; 78 the file would be, or is, no good configuration.
        """)
  }

  @Argument(help: ArgumentHelp("ble, i2c, serial, sensor, camera, mdns. Unless given: all of them.", valueName: "kind"))
  var kinds: [ScanKind] = []

  @Option(name: .shortAndLong, help: ArgumentHelp("The configuration file that --write changes.", valueName: "file"))
  var config: String?

  @Option(help: ArgumentHelp("Put what is found, or a value, into the file at this key.", valueName: "key[=value]"))
  var write: [String] = []

  @Flag(help: "Write without asking.")
  var yes = false

  @Flag(help: "Ask I2C buses, too, that another program has open or that are the board's own.")
  var allBuses = false

  @Option(help: ArgumentHelp("How long to listen for Bluetooth, and for the network, 1s…60s.", valueName: "time"))
  var patience = TimeSpan(argument: "5s")!

  @Option(
    help: ArgumentHelp(
      "Look at the files below a folder, such as a card's, and not at this machine.", valueName: "folder"))
  var root: String?

  @Flag(help: "Print one JSON object instead.")
  var json = false

  func validate() throws {
    guard (Nanoseconds.seconds(1)...Nanoseconds.seconds(60)).contains(patience.nanoseconds) else {
      throw ValidationError("Expected a time of 1s…60s.")
    }
    if write.isEmpty == (config != nil) { throw ValidationError("--write and --config FILE need each other.") }
    if json, !write.isEmpty { throw ValidationError("--json shows what is found; it does not go with --write.") }
    do throws(ScanChoice.Refusal) { _ = try choices() } catch { throw ValidationError("\(error)") }
  }

  func run() throws {
    let choices = try choices()
    let wanted = choices.filter { $0.value == nil }.reduce(into: Set<ScanKind>()) { $0.formUnion($1.kinds) }
    // Values that are given are written without a scan.
    let places =
      write.isEmpty
      ? (kinds.isEmpty ? ScanKind.allCases : ScanKind.allCases.filter { kinds.contains($0) })
      : ScanKind.allCases.filter { wanted.contains($0) && (kinds.isEmpty || kinds.contains($0)) }
    let scan = Scan(
      machine: root.map(Machine.at) ?? .current(), patience: patience.nanoseconds, allBuses: allBuses)
    var reports: [(kind: ScanKind, report: ScanReport)] = []
    for kind in places {
      if root == nil, kind == .ble || kind == .mdns, isatty(2) == 1 {
        complain("\(kind.rawValue): listening for up to \(patience.defaultValueDescription) …")
      }
      let report = scan.report(kind)
      reports.append((kind, report))
      if !json { print(report.text(kind)) }
    }
    if json { print(String(decoding: ScanReport.json(reports).bytes, as: UTF8.self)) }
    guard let config else { return }
    let settings = try choices.map { try chosen($0, reports.flatMap(\.report.finds)) }
    try change(config, settings)
  }

  private func choices() throws(ScanChoice.Refusal) -> [ScanChoice] {
    var choices: [ScanChoice] = []
    for argument in write { choices.append(try ScanChoice(argument)) }
    return choices
  }

  /// Returns the values to write for one choice, after asking at the terminal if several finds fit.
  private func chosen(_ choice: ScanChoice, _ finds: [ScanFind]) throws -> ScanFind.Settings {
    if let value = choice.value { return [ScanFind.Setting(key: choice.key, value: value)] }
    let candidates = choice.candidates(in: finds)
    guard candidates.count != 1 else { return candidates[0].settings }
    guard !candidates.isEmpty else {
      complain("\(choice.key): nothing was found for it")
      throw ExitCode.failure
    }
    guard !yes, isatty(0) == 1 else {
      complain(
        "\(choice.key): expected one find, got \(candidates.count); give one of "
          + candidates.map { "--write \(choice.key)=\($0.settings[0].value)" }.joined(separator: ", "))
      throw ExitCode.failure
    }
    for (number, candidate) in candidates.enumerated() {
      let words = [candidate.find.place, candidate.find.name] + candidate.find.probably.prefix(1)
      print("\(number + 1)  " + words.filter { !$0.isEmpty }.joined(separator: "  "))
    }
    print("Which for \(choice.key)? [1…\(candidates.count)] ", terminator: "")
    fflush(nil)
    guard let number = Int(readLine() ?? ""), (1...candidates.count).contains(number) else {
      complain("nothing was written")
      throw ExitCode.failure
    }
    return candidates[number - 1].settings
  }

  /// Shows the difference, asks, checks and writes.
  private func change(_ path: String, _ settings: [ScanFind.Settings]) throws {
    let old: String
    do throws(FileFailure) { old = try YAMLFile.read(path) } catch {
      complain("\(path): cannot be read: \(error.reason)")
      throw ExitCode.badConfig
    }
    let environment = processEnvironment()
    var new = old
    do {
      for one in settings { new = try ScanChoice.apply(one, to: new, file: path, environment: environment) }
      _ = try Configuration.read(try YAMLFile(text: new, name: path), environment: environment)
    } catch let refusal as ConfigEdit.Refusal {
      complain("\(path): \(refusal)")
      throw ExitCode.failure
    } catch {
      complain("\(error)")
      complain("nothing was written: with this the file would not be a good one")
      throw ExitCode.badConfig
    }
    guard new != old else { return print("nothing to change") }
    print(UnifiedDifference.text(of: path, from: old, to: new), terminator: "")
    guard yes || isAgreed() else {
      complain("nothing was written")
      throw ExitCode.failure
    }
    do { try WholeFile.write(new, to: path) } catch {
      complain("\(path): \(error.localizedDescription); nothing was written")
      throw ExitCode.failure
    }
    print("written")
  }
}
