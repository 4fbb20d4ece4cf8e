internal import COpenSSL

/// OpenSSL's error queue, of which each thread has one: cleared before a call, drained after it.
enum OpenSSLErrorQueue {
    static func clear() {
        ERR_clear_error()
    }

    /// Empties the queue, and gives the reasons in one line.
    static func drain() -> String {
        var reasons: [String] = []
        while case let code = ERR_get_error(), code != 0 {
            reasons.append(ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)")
        }
        return reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; ")
    }
}
