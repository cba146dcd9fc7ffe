import Tactus

/// A chip on a simulated bus: a context, the C function that answers its transfers, and the object that owns the context.
public struct SimulatedI2CChip {
  let context: UnsafeMutableRawPointer
  let transfer: I2CBus.Transfer
  let owner: AnyObject

  /// Creates a chip. `transfer` must carry `@_noLocks @_noAllocation`, since the compiler cannot follow the call. `owner` keeps
  /// `context` valid, and the bus retains `owner`.
  public init(context: UnsafeMutableRawPointer, owner: AnyObject, transfer: @escaping I2CBus.Transfer) {
    self.context = context
    self.owner = owner
    self.transfer = transfer
  }
}
