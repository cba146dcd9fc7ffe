import Devices
import Tactus

/// The parts of a board other than its motors: a camera mount, lights, a buzzer, and the height and the balance of its body.
///
/// The machine only decides: `obey` accepts or refuses an order, `next` returns the next write, one a tick, and `took` or `failed` records its
/// result. A write that failed is repeated. The rules are numbered in the folder's README.
public struct Fittings: Sendable, BitwiseCopyable {
  /// The allowed heights of the body in millimetres.
  public static let heights = 60.0...120.0
  /// The lean in degrees beyond which height and balance are refused if the settings have no limit.
  static var standardTilt: Int {
    @_noLocks @_noAllocation get { 45 }
  }

  /// The board, whose abilities decide which fittings exist.
  public let board: RobotBoard
  /// The limits of the camera mount.
  public let mount: CameraMountSettings
  /// The servo that turns the camera left and right.
  public private(set) var pan = MountServo()
  /// The servo that turns the camera up and down.
  public private(set) var tilt = MountServo()
  /// The requested colours. The colour of a light that is not in `ordered` has no meaning.
  private var wantedLights = [14 of LightColour](repeating: LightColour())
  /// The colours that the board has taken.
  private var toldLights = [14 of LightColour](repeating: LightColour())
  /// A bit for each light that has a requested colour; in `known` for each light whose colour the board is known to have taken.
  private var ordered: UInt16 = 0
  private var known: UInt16 = 0
  /// The instant at which the buzzer's sound ends, or `nil` if the buzzer is silent.
  private var beepEnd: TickInstant?
  /// Whether the board's last buzzer command was on, or `nil` if that is not known.
  public private(set) var isBuzzing: Bool?
  /// The requested height of the body in millimetres, or `nil` if none was requested.
  private var wantedHeight: Double?
  /// The height of the body in millimetres that the board has taken, or `nil` if it has taken none.
  public private(set) var height: Double?
  private var wantedBalance: Bool?
  /// Whether the board levels the body's roll, or `nil` if no command for it was written.
  public private(set) var isBalancing: Bool?
  /// The kind of fitting that was written last, so that the kinds take turns.
  private var last = 0

  /// Creates the fittings of a board before any order. The first write switches a buzzer off, whatever state it is in.
  @_noLocks @_noAllocation
  public init(_ board: RobotBoard, mount: CameraMountSettings) {
    self.board = board
    self.mount = mount
  }

  /// Creates the fittings of a board whose mount has the standard limits.
  @_noLocks @_noAllocation
  public init(_ board: RobotBoard) { self.init(board, mount: .standard(board)) }

  /// Returns the colour that the board has taken for a light, 0…13, or `nil` if it has taken none.
  @_noLocks @_noAllocation
  public func colour(of light: Int) -> LightColour? { known & Self.bit(light) != 0 ? toldLights[light] : nil }

  // MARK: orders

  /// Accepts an order or returns why it is refused. An order that moves something is refused in an emergency stop and in a fault, and orders
  /// of height and balance are refused while the robot leans too far. Lights and beeps are always accepted, since they help to find the robot.
  ///
  /// - Parameters:
  ///   - state: what the motors do.
  ///   - lean: how far the robot leans, in degrees of roll or pitch, or `nil` if that is not known.
  ///   - most: the lean beyond which the motors stop, or `nil` if there is none.
  @_noLocks @_noAllocation
  mutating func obey(
    _ order: FittingOrder, in state: RobotState, lean: Double?, most: Int?, at now: TickInstant
  ) -> Verdict {
    guard board.can(order.ability) else { return .ignored(.lacking(order.ability)) }
    if case .shutDown = state { return .ignored(.shutDown) }
    if order.moves, Mechanism.mountHalt.acts {
      switch state {
      case .emergencyStopped: return .ignored(.emergencyStopped)
      case .fault: return .ignored(.inFault)
      case .stopped, .driving, .shutDown: break
      }
    }
    switch order {
    case .look(let pan, let tilt):
      if let pan, !mount.pan.allows(pan) { return .ignored(.beyondLimits) }
      if let tilt, !mount.tilt.allows(tilt) { return .ignored(.beyondLimits) }
      if let pan { self.pan.aim(at: pan, at: now) }
      if let tilt { self.tilt.aim(at: tilt, at: now) }
    case .light(let colour, nil):
      wantedLights = .init(repeating: colour)
      ordered = Self.everyLight
    case .light(let colour, let light?):
      guard light >= 0, light < RaspbotV2.lightCount else { return .ignored(.beyondLimits) }
      wantedLights[light] = colour
      ordered |= Self.bit(light)
    case .beep(let duration):
      guard duration >= .milliseconds(50), duration <= .seconds(5) else { return .ignored(.beyondLimits) }
      beepEnd = now + duration
    case .height(let millimetres):
      if leans(lean, beyond: most) { return .ignored(.tilted) }
      // A NaN is inside no range.
      guard millimetres >= 60, millimetres <= 120 else { return .ignored(.beyondLimits) }
      wantedHeight = millimetres
    case .balance(let isOn):
      if leans(lean, beyond: most) { return .ignored(.tilted) }
      wantedBalance = isOn
    }
    return .accepted
  }

  @_noLocks @_noAllocation
  private func leans(_ lean: Double?, beyond most: Int?) -> Bool {
    guard let lean else { return false }
    return lean > Double(most ?? Self.standardTilt)
  }

  /// Ends every motion where it is: no further angle is written, and a height or a balance that the board has not taken is dropped. The function is
  /// to be called whenever an emergency stop or a fault is in force.
  @_noLocks @_noAllocation
  mutating func halt() {
    guard Mechanism.mountHalt.acts else { return }
    pan.halt()
    tilt.halt()
    wantedHeight = height
    wantedBalance = isBalancing
  }

  /// Records that something outside the program, such as the guard, may have written to the board.
  @_noLocks @_noAllocation
  mutating func forget() {
    halt()
    beepEnd = nil
    isBuzzing = nil
  }

  /// Prepares the end of the program: motions end where they are, lights that are on go off, and the buzzer is silenced.
  @_noLocks @_noAllocation
  mutating func shutDown() {
    forget()
    guard ordered != 0 else { return }
    wantedLights = .init(repeating: LightColour())
    ordered = Self.everyLight
  }

  // MARK: writes

  /// Returns the next write, or `nil` if none is due. The buzzer comes first; the other fittings take turns.
  ///
  /// - Parameter period: the time between two periodic ticks.
  @_noLocks @_noAllocation
  mutating func next(period: Nanoseconds, at now: TickInstant) -> FittingWrite? {
    if let end = beepEnd, now >= end, Mechanism.beepEnd.acts { beepEnd = nil }
    if board.can(.buzzer) {
      var isWanted = false
      if case .some = beepEnd { isWanted = true }
      switch isBuzzing {
      case .some(let isBuzzing) where isBuzzing == isWanted: break
      default: return .buzzer(isOn: isWanted)
      }
    }
    for offset in 1...5 {
      let kind = (last + offset) % 5
      if let write = write(of: kind, period: period, at: now) {
        last = kind
        return write
      }
    }
    return nil
  }

  @_noLocks @_noAllocation
  private mutating func write(of kind: Int, period: Nanoseconds, at now: TickInstant) -> FittingWrite? {
    switch kind {
    case 0:
      guard let degrees = pan.next(mount.degreesPerSecond, longest: period * 3, at: now) else { return nil }
      return .pan(degrees: degrees, wired: mount.pan.wired(degrees))
    case 1:
      guard let degrees = tilt.next(mount.degreesPerSecond, longest: period * 3, at: now) else { return nil }
      return .tilt(degrees: degrees, wired: mount.tilt.wired(degrees))
    case 2: return nextLight
    case 3:
      guard let wantedHeight else { return nil }
      if let height, height == wantedHeight { return nil }
      return .height(millimetres: wantedHeight)
    default:
      guard let wantedBalance else { return nil }
      if let isBalancing, isBalancing == wantedBalance { return nil }
      return .balance(wantedBalance)
    }
  }

  /// The next write to the lights: all of them if they are to have the same colour, otherwise the first whose colour is not the requested one.
  private var nextLight: FittingWrite? {
    @_noLocks @_noAllocation get {
      var first = -1
      var isUniform = ordered == Self.everyLight
      for light in 0..<14 {
        if !wantedLights[light].isSame(as: wantedLights[0]) { isUniform = false }
        guard first < 0, ordered & Self.bit(light) != 0 else { continue }
        if known & Self.bit(light) == 0 || !toldLights[light].isSame(as: wantedLights[light]) { first = light }
      }
      guard first >= 0 else { return nil }
      return isUniform ? .allLights(wantedLights[0]) : .light(first, wantedLights[first])
    }
  }

  @_noLocks @_noAllocation
  private static func bit(_ light: Int) -> UInt16 { 1 &<< UInt16(truncatingIfNeeded: light) }

  private static var everyLight: UInt16 {
    @_noLocks @_noAllocation get { 0x3FFF }
  }

  /// Records that the board has taken a write.
  @_noLocks @_noAllocation
  mutating func took(_ write: FittingWrite, at now: TickInstant) {
    switch write {
    case .pan(let degrees, _): pan.record(degrees, mount.degreesPerSecond, at: now)
    case .tilt(let degrees, _): tilt.record(degrees, mount.degreesPerSecond, at: now)
    case .allLights(let colour):
      toldLights = .init(repeating: colour)
      known = Self.everyLight
    case .light(let light, let colour):
      toldLights[light] = colour
      known |= Self.bit(light)
    case .buzzer(let isOn): isBuzzing = isOn
    case .height(let millimetres): height = millimetres
    case .balance(let isOn): isBalancing = isOn
    }
  }

  /// Records that a write has failed. The write is repeated. A buzzer that may sound in spite of the failure is silenced at the end of its time.
  @_noLocks @_noAllocation
  mutating func failed(_ write: FittingWrite) {
    if case .buzzer = write { isBuzzing = nil }
  }
}
