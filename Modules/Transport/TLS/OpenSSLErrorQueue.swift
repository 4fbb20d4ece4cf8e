internal import COpenSSL

/// One entry of OpenSSL's error queue.
struct OpenSSLError: Error, CustomStringConvertible {
    let code: UInt
    let description: String

    var reason: Int32 { linnet_ERR_GET_REASON(code) }
}

/// OpenSSL's error queue, of which each thread has one: cleared before a call, drained after it.
enum OpenSSLErrorQueue {
    static func clear() {
        ERR_clear_error()
    }

    /// Empties the queue, oldest entry first.
    static func drain() -> [OpenSSLError] {
        var errors: [OpenSSLError] = []
        while case let code = ERR_get_error(), code != 0 {
            let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer -> String in
                ERR_error_string_n(code, buffer.baseAddress, buffer.count)
                return buffer.baseAddress.map { String(cString: $0) } ?? ""
            }
            errors.append(
                OpenSSLError(code: code, description: ERR_reason_error_string(code).map { String(cString: $0) } ?? text)
            )
        }
        return errors
    }
}

extension [OpenSSLError] {
    /// The reasons in one line.
    var summary: String {
        isEmpty ? "no reason given" : map(\.description).joined(separator: "; ")
    }
}
