import ArgumentParser
import Foundation
import Tactus

/// The command `tactus setup`.
struct SetupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup", abstract: "Prepares a machine for real time and for its hardware.",
    subcommands: [SetupPiCommand.self])
}

/// The command `tactus setup pi`.
struct SetupPiCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pi",
    abstract: "Writes what a Raspberry Pi's boot files must say, showing the difference first.",
    discussion: """
      Shows as `diff -u` what would change in config.txt, cmdline.txt, /etc/modules-load.d, /etc/systemd/system.conf.d and \
      /etc/tmpfiles.d, asks, and writes it. Each file that changes is kept beside itself, as config.txt.tactus-1. What is \
      there already stays, so that a second run changes nothing; a file that it does not understand stops it, with the \
      file's name and line, before anything is written.
      Always: a watchdog that systemd feeds, CPUs that do not slow down, one CPU without other programs and interrupts \
      (--isolate). Buses and the serial line: what the hardware of the configuration file needs, and what the flags name.
      Exit status 0 when everything is as wished, 1 when something was not written.
      """)

  @OptionGroup var file: ConfigFile

  @Flag(name: .customLong("i2c"), help: "The header's I2C bus 1, GPIO 2 and 3.")
  var i2c = false

  @Flag(name: .customLong("spi"), help: "The header's SPI.")
  var spi = false

  @Flag(name: .customLong("pwm"), help: "The two PWM outputs, GPIO 18 and 19.")
  var pwm = false

  @Flag(help: "The header's serial line, GPIO 14 and 15: the good unit, without Bluetooth and without a console.")
  var serial = false

  @Flag(help: "With the serial line: Bluetooth stays, on the slower unit.")
  var keepBluetooth = false

  @Option(help: ArgumentHelp("The CPUs for real-time lanes, as 3 or 2-3, or none.", valueName: "cpus"))
  var isolate = "3"

  @Flag(help: "Write without asking.")
  var yes = false

  @Option(help: ArgumentHelp("Where the Pi's files are: a card that is mounted elsewhere.", valueName: "folder"))
  var root = ""

  func validate() throws {
    guard isolate == "none" || CPUSet(isolate).map({ !$0.contains(0) }) == true else {
      throw ValidationError("Expected CPUs other than 0, as 3 or 2-3, or none; got \(isolate).")
    }
  }

  func run() throws {
    var wishes = PiSetup.Wishes()
    if let config = file.path { wishes = PiSetup.Wishes(try readConfiguration(config)) }
    wishes.hasI2C = wishes.hasI2C || i2c
    wishes.hasSPI = wishes.hasSPI || spi
    wishes.hasPWM = wishes.hasPWM || pwm
    wishes.hasSerialLine = wishes.hasSerialLine || serial
    wishes.keepsBluetooth = wishes.keepsBluetooth || keepBluetooth
    wishes.isolated = isolate == "none" ? nil : CPUSet(isolate)
    let changes: [PiSetup.Change]
    do {
      changes = try PiSetup(wishes: wishes) { YAMLFile.contents(of: root + $0) }.changes()
    } catch {
      complain("\(root)\(error)")
      throw ExitCode.failure
    }
    guard !changes.isEmpty else { return print("nothing to change") }
    for change in changes { print(change.difference, terminator: "") }
    guard yes || isAgreed() else {
      complain("nothing was written")
      throw ExitCode.failure
    }
    for change in changes {
      do {
        try write(change)
      } catch {
        complain("\(root)\(change.path): \(error.localizedDescription); what was written before it stays written")
        throw ExitCode.failure
      }
    }
    sync()
    print("written; reboot for it to take effect")
  }

  private func write(_ change: PiSetup.Change) throws {
    let path = root + change.path
    let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if change.old != nil {
      var number = 1
      while FileManager.default.fileExists(atPath: "\(path).tactus-\(number)") { number += 1 }
      try FileManager.default.copyItem(atPath: path, toPath: "\(path).tactus-\(number)")
      print("kept \(path).tactus-\(number)")
    }
    try Data(change.new.utf8).write(to: URL(filePath: path), options: .atomic)
  }
}
