@_spi(FromOutside) import Conversions
import Glibc
import Service
import Tactus

/// Shows the loops of a daemon live in a terminal until `q` is pressed, a signal arrives or the input ends.
struct InteractiveTop {
  private let poller: TopPoller
  private let host: String
  private var model = TopModel()

  init(_ poller: TopPoller, host: String) {
    self.poller = poller
    self.host = host
  }

  /// Runs until the user quits, then restores the terminal. Returns why the daemon refuses the requests, or `nil` if the user has quit.
  ///
  /// - Parameter interval: the time between two requests.
  mutating func run(
    every interval: Nanoseconds, events: borrowing ServiceEvents, terminal: consuming RawTerminal
  ) throws(RuntimeError) -> String? {
    let beats = Latest<Int64>(-1)
    let button = events.doorbell.button
    let metronome = try Runtime {
      Lane("top") { Loop("top", every: .period(interval)) { TopBeat(beats: beats.writer(), bell: button) } }
    }
    try metronome.start()
    defer { metronome.stop() }
    show(TopScreen.enter)
    defer { show(TopScreen.leave) }
    draw()
    var beat = beats.reader()
    var lastBeat: Int64 = -1
    while true {
      for event in events.wait(input: 0) {
        switch event {
        case .stop, .reopenLog: return nil
        case .childEnded: break
        case .input:
          if quits() { return nil }
          draw()
        case .doorbell:
          if case let newest = beat.read(), newest != lastBeat {
            lastBeat = newest
            model.ask(after: interval)
            poller.ask()
          }
          switch poller.takeAnswer() {
          case .sample(let sample): model.take(sample)
          case .unreachable(let reason): model.lose(reason)
          case .refused(let reason): return reason
          case nil: break
          }
          // The screen is drawn at every beat, too, since the window may have another size.
          draw()
        }
      }
    }
  }

  /// Reads the pressed keys. Returns whether they ask to quit, or the terminal is gone.
  private func quits() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(0, &bytes, bytes.count)
    // The keys are q, Q, Ctrl-C and Ctrl-D.
    return count <= 0 || bytes[..<count].contains { [0x71, 0x51, 0x03, 0x04].contains($0) }
  }

  private func draw() {
    let size = TerminalSize.current
    var lines = TopScreen.lines(model, host: host, width: size.width)
    lines = lines.prefix(max(1, size.height - 1)) + [TopScreen.Line(text: "q quits")]
    show(TopScreen.frame(lines, width: size.width, height: size.height))
  }

  private func show(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }
}

/// Wakes the main thread when the next request is due.
private struct TopBeat: ~Copyable, ControlLoop, NoOutput {
  private var beats: LatestWriter<Int64>
  private let bell: DoorbellButton

  init(beats: consuming LatestWriter<Int64>, bell: DoorbellButton) {
    self.beats = beats
    self.bell = bell
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    beats.write(tick.index)
    bell.ring()
  }
}

/// The columns and rows of the terminal on standard output; 80 by 24 if standard output is not a terminal.
public struct TerminalSize: Equatable, Sendable {
  /// The number of columns.
  public var width: Int
  /// The number of rows.
  public var height: Int

  /// The present size; every call asks the terminal.
  public static var current: TerminalSize {
    var size = winsize()
    guard ioctl(1, UInt(truncatingIfNeeded: TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return TerminalSize(width: 80, height: 24)
    }
    return TerminalSize(width: Int(size.ws_col), height: Int(size.ws_row))
  }
}
