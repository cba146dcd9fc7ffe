import Service
import Synchronization
import Tactus

/// The surroundings of a desk: the parts of the program that its material refers to, and the objects that the desk
/// gives to the program. Used by the main thread while the desk is made.
final class DeskSurroundings<State: BitwiseCopyable & Sendable, Notice: BitwiseCopyable & Sendable> {
  /// The place of the system in the file, or `nil` if the system is the only one of its kind.
  let at: SystemPlace?
  let isSimulated: Bool
  /// The value of the file's key `network.bind_address`.
  let bindAddress: String
  let portOwners: PortOwners
  /// The publisher of the state for a system without loops, or `nil` if a loop publishes the state.
  let publisher: DeskPublisher<State, Notice>?
  /// The child programs in the order in which they were made.
  private(set) var children: [any RunsBeside] = []

  init(
    at place: SystemPlace? = nil, isSimulated: Bool = false, bindAddress: String = "127.0.0.1",
    portOwners: PortOwners = PortOwners(),
    publisher: DeskPublisher<State, Notice>? = nil
  ) {
    (at, self.isSimulated, self.bindAddress, self.portOwners) = (place, isSimulated, bindAddress, portOwners)
    self.publisher = publisher
  }

  func add(_ child: any RunsBeside) { children.append(child) }
}

/// Publishes the state and the notices of a desk that has no loop. Safe to use from any thread.
final class DeskPublisher<State: BitwiseCopyable & Sendable, Notice: BitwiseCopyable & Sendable>: Sendable {
  private struct Ends: ~Copyable {
    var state: LatestWriter<Published<State>>
    var notices: [Told<Notice>] = []
    var dropped: Int64 = 0
  }

  /// The maximum number of queued notices, the same as for a loop.
  private static var mostNotices: Int { 256 }
  private let ends: Mutex<Ends>

  init(_ state: Latest<Published<State>>) { ends = Mutex(Ends(state: state.writer())) }

  func publish(_ state: State, at now: TickInstant) {
    ends.withLock { $0.state.write(Published(at: now, isSafe: true, state: state, noticesDropped: $0.dropped)) }
  }

  func report(_ notice: Notice, at now: TickInstant) {
    ends.withLock { ends in
      if ends.notices.count < Self.mostNotices {
        ends.notices.append(Told(at: now, notice: notice))
      } else {
        ends.dropped += 1
      }
    }
  }

  /// Returns the notices since the last call.
  func takeNotices() -> [Told<Notice>] {
    ends.withLock { ends in
      defer { ends.notices = [] }
      return ends.notices
    }
  }
}

extension DeskMaterial {
  /// Whether the hardware is simulated. A child then simulates its devices.
  public var isSimulated: Bool { around.isSimulated }
  /// The file's `network.bind_address`, on which listeners of the desk should listen.
  public var bindAddress: String { around.bindAddress }

  /// Returns a message such as `network.rtsp_port: TCP port 8554 is taken by nginx (pid 123): …`, or `nil` if no
  /// program was known to have the port when this program started. It explains why a child cannot open the port, since
  /// a confined program does not see the ports of other programs.
  public func holder(ofTCP port: KeyPath<System.Wiring, UInt16>) -> String? {
    let key = System.path(of: System.Wiring.key(of: port), at: at)
    return around.portOwners.sentence(key, .tcp(wiring[keyPath: port]))
  }

  /// Starts and supervises a child program for as long as this program runs. The child is started with the loops,
  /// before the service accepts clients, and killed after the loops have ended.
  ///
  /// - Parameters:
  ///   - talk: the protocol between the two programs.
  ///   - settings: the first message to each process, or `nil` if the child gets no settings.
  ///   - heard: called with each message of the child, on a thread of its own that `changed` shares. Neither function
  ///     may block.
  ///   - changed: called when the child has started, is being killed, or has ended.
  /// - Throws: `RuntimeError.system` if the process or the machine has no free descriptor.
  public func child<Talk: ChildTalk>(
    _ program: ChildProgram, speaking talk: Talk.Type, settings: Talk.Order? = nil,
    heard: @escaping @Sendable (Talk.Word) -> Void, changed: @escaping @Sendable (ChildReport) -> Void
  ) throws -> Child<Talk> {
    let child = try Child<Talk>(program, settings: settings, logger: logger, heard: heard, changed: changed)
    around.add(child)
    return child
  }
}

extension DeskMaterial where System: WithoutLoops {
  /// A function that publishes a new state: `made.publish`. It may be called on any thread.
  public var publish: @Sendable (System.State) -> Void {
    let publisher = around.publisher
    return { publisher?.publish($0, at: MonotonicClock.now) }
  }

  /// A function that sends a notice: `made.note`. It may be called on any thread.
  public var note: @Sendable (System.Notice) -> Void {
    let publisher = around.publisher
    return { publisher?.report($0, at: MonotonicClock.now) }
  }
}

extension Bench {
  /// Claims a TCP port on which a child program listens. The bench does not open the port.
  ///
  /// - Parameter port: the key of the port number; 0 stands for any free port, which is not claimed.
  public func listens(tcp port: KeyPath<Wiring, UInt16>) {
    let number = wiring[keyPath: port]
    if number > 0 { parts.claim(.tcp(port: number), Wiring.key(of: port).name) }
  }
}
