import Tactus

/// Makes one request of several groups of lines, which are on different chips.
///
/// Chips are written one after the other, so lines are turned off on every chip before a line is turned on anywhere: two lines that
/// follow each other are never active together. If a chip does not turn its lines off, the others still do, and no line is turned on.
///
/// Groups are added before the first port is made. The port belongs to one loop; this object must outlive it, and the owners of the groups
/// must outlive both. Timing: at most two writes or one read of each group.
public final class CombinedGPIOLines: @unchecked Sendable {  // safe: nothing changes after the port is made
  /// The greatest number of groups.
  public static let maximumGroups = 16

  private let state: UnsafeMutablePointer<State>
  private let count: Int

  fileprivate struct Group {
    let context: UnsafeMutableRawPointer
    let perform: GPIOLines.Perform
    let count: Int
    /// The line of the whole request for each line of the group.
    let places: [64 of UInt8]
    /// The lines of the whole request that the group has.
    let mask: UInt64
  }

  fileprivate struct State: ~Copyable {
    let groups = UnsafeMutablePointer<Group>.allocate(capacity: CombinedGPIOLines.maximumGroups)
    var groupCount = 0
    var mask: UInt64 = 0

    deinit { groups.deallocate() }
  }

  /// Creates a request of `count` lines, 1…64, none of which belongs to a group yet.
  public init(count: Int) {
    precondition((1...GPIOLines.maximumCount).contains(count), "1…64 lines are requested together")
    self.count = count
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Adds a group of lines.
  ///
  /// - Parameters:
  ///   - lines: the group's lines, which are taken over.
  ///   - places: the line of the whole request for each line of the group; no two lines share one.
  public func add(_ lines: consuming GPIOLines, at places: [Int]) {
    precondition(places.count == lines.count, "a place for each line")
    precondition(state.pointee.groupCount < Self.maximumGroups, "at most \(Self.maximumGroups) groups")
    var numbers: [64 of UInt8] = .init(repeating: 0)
    var mask: UInt64 = 0
    for (index, place) in places.enumerated() {
      precondition((0..<count).contains(place) && (mask | state.pointee.mask) >> UInt64(place) & 1 == 0, "a free place")
      numbers[index] = UInt8(place)
      mask |= 1 << UInt64(place)
    }
    (state.pointee.groups + state.pointee.groupCount).initialize(
      to: Group(context: lines.context, perform: lines.perform, count: lines.count, places: numbers, mask: mask))
    state.pointee.groupCount += 1
    state.pointee.mask |= mask
  }

  /// Returns the port for the one loop that owns the lines. Every line belongs to a group by now.
  public func port() -> GPIOLines {
    let port = GPIOLines(context: state, count: count, perform: performOnGroups)
    precondition(state.pointee.mask == port.all, "every line belongs to a group")
    return port
  }
}

extension CombinedGPIOLines.Group {
  /// Sets the lines of `mask`, given by their places in the whole request. Nothing happens if none is the group's.
  @_noLocks @_noAllocation
  fileprivate func set(_ mask: UInt64, values: UInt64, at: TickInstant) -> Int32 {
    guard mask & self.mask != 0 else { return 0 }
    var own = GPIOAccess(.set, mask: 0, at: at)
    for index in 0..<count {
      let place = UInt64(places[index])
      own.mask |= (mask >> place & 1) << UInt64(index)
      own.values |= ((mask & values) >> place & 1) << UInt64(index)
    }
    return callPerform(perform, context, &own)
  }

  /// Reads the group's lines into `values`, at their places in the whole request.
  @_noLocks @_noAllocation
  fileprivate func read(into values: inout UInt64, at: TickInstant) -> Int32 {
    var own = GPIOAccess(.read, mask: UInt64.max >> UInt64(64 - count), at: at)
    let result = callPerform(perform, context, &own)
    for index in 0..<count { values |= (own.values >> UInt64(index) & 1) << UInt64(places[index]) }
    return result
  }
}

extension CombinedGPIOLines.State {
  @_noLocks @_noAllocation
  fileprivate func set(_ access: GPIOAccess) -> Int32 {
    var result: Int32 = 0
    for index in 0..<groupCount {
      let made = groups[index].set(access.mask & ~access.values, values: 0, at: access.at)
      if made < 0, result == 0 { result = made }
    }
    guard result == 0 else { return result }
    for index in 0..<groupCount {
      let made = groups[index].set(access.mask & access.values, values: access.values, at: access.at)
      if made < 0 { return made }
    }
    return 0
  }

  @_noLocks @_noAllocation
  fileprivate func read(_ access: inout GPIOAccess) -> Int32 {
    access.values = 0
    for index in 0..<groupCount {
      let result = groups[index].read(into: &access.values, at: access.at)
      if result < 0 { return result }
    }
    return 0
  }
}

@_noLocks @_noAllocation
private func performOnGroups(_ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer) -> Int32 {
  let state = context.assumingMemoryBound(to: CombinedGPIOLines.State.self)
  let access = access.assumingMemoryBound(to: GPIOAccess.self)
  return access.pointee.isSet ? state.pointee.set(access.pointee) : state.pointee.read(&access.pointee)
}
