#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Tells when the machine's network has changed: an interface is up, has another address, or there is another route (rtnetlink(7)). On
/// systems without such messages it tells nothing.
final class NetworkWatch {
  #if os(Linux)
    /// `sockaddr_nl` of `linux/netlink.h`, which Swift does not import.
    private struct Address {
      var family = sa_family_t(AF_NETLINK)
      var padding: UInt16 = 0
      var process: UInt32 = 0
      /// RTMGRP_LINK, _IPV4_IFADDR, _IPV4_ROUTE, _IPV6_IFADDR, _IPV6_ROUTE.
      var groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
    }
  #endif

  /// Readable when there is something to be told; -1 where there is never anything.
  let descriptor: Int32

  init() {
    #if os(Linux)
      let kind = Int32(SOCK_RAW.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
      let opened = socket(AF_NETLINK, kind, 0)
      var address = Address()
      let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(opened, $0, socklen_t(MemoryLayout<Address>.size)) == 0
        }
      }
      if !isBound, opened >= 0 { close(opened) }
      descriptor = isBound ? opened : -1
    #else
      descriptor = -1
    #endif
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Forgets what there is to be told, so that the descriptor is not readable.
  func drain() {
    var buffer = [UInt8](repeating: 0, count: 8192)
    // A queue that has run over is an error, too, and is empty then.
    while recv(descriptor, &buffer, buffer.count, 0) > 0 || errno == ENOBUFS { errno = 0 }
  }
}
