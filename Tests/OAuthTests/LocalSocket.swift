import FoundationEssentials

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A connection to a port of 127.0.0.1 that sends any bytes. Its functions block for at most 30 seconds.
final class LocalSocket {
    struct Failure: Error {
        let code: Int32
    }

    private let descriptor: Int32

    init(_ port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw Failure(code: errno) }
    }

    deinit { close(descriptor) }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads until the peer closes.
    func readToEnd() -> String {
        var (all, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += chunk[..<count]
        }
    }

    func exchange(_ text: String) -> String {
        write(text)
        return readToEnd()
    }
}
