import Synchronization

/// A simulated fault that a system has declared.
public struct NamedFault: Sendable {
  /// The name of the fault, unique in its system: `stall`.
  public let name: String
  /// The meaning of the fault in one sentence.
  public let meaning: String
  let inject: @Sendable (Bool) -> Void

  /// Makes a fault.
  ///
  /// - Parameter inject: called on any thread with whether the fault is to be in force.
  public init(name: String, meaning: String, inject: @escaping @Sendable (Bool) -> Void) {
    (self.name, self.meaning, self.inject) = (name, meaning, inject)
  }
}

/// The declared faults of one simulated system, with the set of those in force. It may be used from any thread.
public final class NamedFaults: Sendable {
  /// The name of the system: `fan`.
  public let system: String
  /// All faults that the system has declared, in the order of declaration.
  public let all: [NamedFault]
  private let inForce = Mutex<Set<String>>([])

  /// Makes the faults; none is in force at first.
  ///
  /// - Parameter all: the faults, whose names must differ.
  public init(system: String, _ all: [NamedFault]) { (self.system, self.all) = (system, all) }

  /// The names of the faults in force.
  public var active: Set<String> { inForce.withLock { $0 } }

  /// Puts a fault into force or ends it.
  ///
  /// - Returns: whether the system has a fault of that name; if not, the call has no effect.
  @discardableResult
  public func set(_ name: String, _ isActive: Bool) -> Bool {
    guard let fault = all.first(where: { $0.name == name }) else { return false }
    inForce.withLock { inForce in
      if isActive { inForce.insert(name) } else { inForce.remove(name) }
      fault.inject(isActive)
    }
    return true
  }

  /// Ends all faults that are in force.
  public func clear() { for name in active { set(name, false) } }
}

/// The request body `{"system":"fan","fault":"stall","active":true}`.
struct NamedFaultBody: JSONReadable {
  let system: String
  let fault: String
  let isActive: Bool

  init(_ body: inout JSONReader) throws(APIError) {
    system = try body.required("system", .text(1...64))
    fault = try body.required("fault", .text(1...64))
    isActive = try body.optional("active", .boolean) ?? true
  }

  /// Returns the declared faults of the system named in the request.
  ///
  /// - Throws: 422 if no system has that name, or if the system has no fault of that name.
  func find(among all: [NamedFaults]) throws(APIError) -> NamedFaults {
    guard let system = all.first(where: { $0.system == self.system }) else {
      let known = all.map(\.system).joined(separator: ", ")
      throw .validation("system", expected: "one of \(known)", got: "\"\(self.system.prefix(40))\"")
    }
    guard system.all.contains(where: { $0.name == fault }) else {
      let known = system.all.map(\.name).joined(separator: ", ")
      throw .validation("fault", expected: "one of \(known)", got: "\"\(fault.prefix(40))\"")
    }
    return system
  }
}
