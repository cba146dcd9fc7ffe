import Testing

@testable import Pump
