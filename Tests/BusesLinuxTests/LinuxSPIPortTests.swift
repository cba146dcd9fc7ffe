import Buses
import BusesLinux
import Testing

@Suite("SPI of the kernel") struct LinuxSPIPortTests {
  @Test("open: no such device, and something that is no SPI device, are told with what to do")
  func refused() {
    func failure(_ path: String) -> BusOpenError? {
      do throws(BusOpenError) {
        _ = try LinuxSPIPort(path: path)
        return nil
      } catch {
        return error
      }
    }
    #expect(failure("/dev/spidev250.0") == .noSuchDevice(.spiDevice, path: "/dev/spidev250.0"))
    #expect(failure("/dev/null") == .wrongDevice(.spiDevice, path: "/dev/null"))
    #expect(failure("/dev/null")?.description.contains("/dev/spidev*") == true)
  }
}
