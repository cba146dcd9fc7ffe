import Buses
import BusesLinux
import Logging
import Tactus
import TactusGuard

// Support for what a system opens itself because the bench has no part for it: a device that is reached in one of several ways, or a simulation of
// its own.

/// A link that a system has opened itself.
public protocol OwnLink: AnyObject {
  /// Starts the link. Called when the loops start.
  func start()
  /// Stops the link. The function is called once after `start`, when the loops have ended, and may take some seconds.
  func stop()
}

private final class TendedLink: BenchLink {
  private let link: any OwnLink

  init(_ link: any OwnLink) { self.link = link }

  func start() { link.start() }
  func mend(_ logger: Logger) {}
  func stop() { link.stop() }
}

extension Bench {
  /// Whether the bench only plans: it records the claims and the guard's writes, and opens nothing.
  public var isPlanning: Bool { parts.mode == .planning }

  /// The program's logger with the system's name in its metadata.
  public var logger: Logger {
    var logger = parts.logger ?? Logger(label: "tactus") { _ in SwiftLogNoOpLogHandler() }
    logger[metadataKey: "system"] = .string(parts.at.name)
    return logger
  }

  /// The time in seconds that the guard waits for a heartbeat before it makes every output safe.
  public var guardTimeoutSeconds: Double { parts.guardTimeoutSeconds }

  /// Adds a write that brings an output which the system opens itself into its safe state when no loop drives it. Only
  /// the loop or `mailbox.lastWords` can then confirm that the output is safe.
  public func guardWrites(_ write: SafeStateWrite) {
    parts.safeWrites.append(write)
    parts.addOutput(
      BenchOutput(
        name: "\(write)", isSafe: { true }, isDriving: { false }, isReadBack: false, makeSafe: { _ in true }),
      .inactive)
  }

  /// Keeps objects that a port of the loop refers to alive as long as the system.
  public func keep(_ things: AnyObject...) { for thing in things { _ = parts.hold(thing) } }

  /// Starts a link that the system has opened when the loops start, and stops it after they have ended.
  public func tend(_ link: any OwnLink) {
    keep(link)
    if !isPlanning { parts.links.append(TendedLink(link)) }
  }

  /// Opens a PWM output that no single key names; see `pwm(_:period:safe:)`.
  ///
  /// - Parameter key: the key that errors name.
  public func pwm(
    _ name: PWMOutputName, of key: PartialKeyPath<Wiring>, period: Nanoseconds, safe: SafeOutput
  ) throws -> PWMPart {
    parts.claim(.pwm(path: "\(name)"), try self.key(key))
    if case .inactive = safe { parts.safeWrites.append(.pwm(path: "\(name)")) }
    let part = parts.hold(try opening(key) { try PWMPart(name, period: period, isReal: parts.mode == .real) })
    parts.addOutput(
      BenchOutput(
        name: "\(name)", isSafe: { part.isOff }, isDriving: { !part.isOff }, makeSafe: { part.turnOff(at: $0) },
        refuse: { part.simulated?.fail(errno: $0 ? 5 : 0) }, duty: { part.simulated?.duty.ratio() ?? 0 }), safe)
    return part
  }

  /// Opens output lines that one write sets together, in the order of its mask. They are inactive until the loop sets
  /// them, and requested in one step: all of them or none.
  ///
  /// - Parameters:
  ///   - lines: 1…64 different lines of one chip, each with the path in the file of the key that gives it.
  ///   - key: the key that errors of opening name.
  public func outputs(
    _ lines: [(line: GPIOLine, key: String)], of key: PartialKeyPath<Wiring>, safe: SafeOutput
  ) throws -> OutputPart {
    parts.claims += lines.map { .gpio($0.line.name, key: $0.key) }
    let part = parts.hold(try opening(key) { try OutputPart(lines.map(\.line), parts) })
    if case .inactive = safe {
      parts.safeLines += lines.map(\.line)
      if let held = part.held { parts.heldLines.append(held) }
    }
    parts.addOutput(
      BenchOutput(
        name: lines.map { "\($0.line.name)" }.joined(separator: ", "), isSafe: { part.isInactive },
        isDriving: { part.isActive }, makeSafe: { part.turnOff(at: $0) }), safe)
    return part
  }

  /// Opens an input that is described by a `GPIOInput`; see `edges(_:edges:pull:debounce:)`.
  ///
  /// - Parameter key: the key that errors name.
  public func edges(_ input: GPIOInput, of key: PartialKeyPath<Wiring>) throws -> InputPart {
    parts.claims.append(.gpio(input.line.name, key: try self.key(key)))
    return parts.hold(try opening(key) { try InputPart(input, parts) })
  }
}
