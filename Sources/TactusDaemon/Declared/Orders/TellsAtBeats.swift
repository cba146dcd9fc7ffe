import Service
import Tactus

/// Adopted by a system that tells subscribers more than its state and its notices, such as each second of a countdown.
public protocol TellsAtBeats: DeviceSystem {
  /// Returns events to send after the state. Called ten times a second on the main thread; must not block or wait for a
  /// disk.
  static func events(_ published: Published<State>, _ look: Look<Self>) -> [Event]
}

extension TellsAtBeats {
  static func toldAtBeat(_ published: Any, _ look: Any) -> [Event] {
    // Of this system.
    events(published as! Published<State>, look as! Look<Self>)
  }
}
