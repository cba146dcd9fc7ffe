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

  /// Runs until the user quits, then restores the terminal. Returns the reason why the daemon refuses the requests, or `nil` if the user has quit.
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
    printAtOnce(TopScreen.enter)
    defer { printAtOnce(TopScreen.leave) }
    draw()
    var beat = beats.reader()
    var lastBeat: Int64 = -1
    while true {
      for event in events.wait(input: terminal.descriptor) {
        switch event {
        case .stop, .reopenLog: return nil
        case .childEnded: break
        case .input:
          guard let keys = terminal.keys(), !keys.contains(where: \.quits) else { return nil }
          draw()
        case .doorbell:
          if case let newest = beat.read(), newest != lastBeat {
            lastBeat = newest
            model.ask(after: interval)
            poller.ask()
          }
          switch poller.takeAnswer() {
          case .sample(let sample): model.add(sample)
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

  private func draw() {
    let size = TerminalSize.current
    var lines = TopScreen.lines(model, host: host, width: size.width)
    lines = lines.prefix(max(1, size.height - 1)) + [TopScreen.Line(text: "q quits")]
    printAtOnce(TopScreen.frame(lines, width: size.width, height: size.height))
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
