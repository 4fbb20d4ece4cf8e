internal import COpenSSL

/// One entry of OpenSSL's error queue.
package struct OpenSSLError: Error, CustomStringConvertible {
    /// Which part of OpenSSL it comes from, `ERR_LIB_…`.
    package let library: Int32
    /// What it is, in that part's own numbers.
    package let reason: Int32
    /// The reason in words.
    package let description: String
    /// What OpenSSL says beside it, such as the name of an algorithm; written by OpenSSL, never by a peer.
    package let detail: String?

    init(_ code: UInt, detail: String?) {
        library = linnet_ERR_GET_LIB(code)
        reason = linnet_ERR_GET_REASON(code)
        description = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
        self.detail = detail
    }
}

/// OpenSSL's error queue, of which each thread has one: cleared before a call, drained after it.
package enum OpenSSLErrorQueue {
    package static func clear() {
        ERR_clear_error()
    }

    /// Empties the queue, oldest entry first.
    package static func drain() -> [OpenSSLError] {
        var errors: [OpenSSLError] = []
        var data: UnsafePointer<CChar>?
        var flags: Int32 = 0
        while case let code = ERR_get_error_all(nil, nil, nil, &data, &flags), code != 0 {
            let hasText = flags & ERR_TXT_STRING != 0
            errors.append(OpenSSLError(code, detail: hasText ? data.map { String(cString: $0) } : nil))
        }
        return errors
    }
}

extension [OpenSSLError] {
    /// The reasons in one line.
    package var summary: String {
        isEmpty ? "no reason given" : map(\.description).joined(separator: "; ")
    }
}
