internal import COpenSSL

/// One entry of OpenSSL's error queue.
package struct OpenSSLError: Error, CustomStringConvertible {
    /// The library within OpenSSL that reported the error, `ERR_LIB_…`.
    package let library: Int32
    /// The reason code, which is specific to the library.
    package let reason: Int32
    /// The text of the reason.
    package let description: String
    /// Additional data from OpenSSL, such as the name of an algorithm. OpenSSL writes it, never a peer.
    package let detail: String?

    init(_ code: UInt, detail: String?) {
        library = linnet_ERR_GET_LIB(code)
        reason = linnet_ERR_GET_REASON(code)
        description = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
        self.detail = detail
    }
}

/// OpenSSL's error queue, one per thread: cleared before a call, drained after it.
package enum OpenSSLErrorQueue {
    package static func clear() {
        ERR_clear_error()
    }

    /// Removes all entries and returns them, oldest first.
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
    /// The reasons joined into one line.
    package var summary: String {
        isEmpty ? "no reason given" : map(\.description).joined(separator: "; ")
    }
}

/// The OpenSSL library loaded by the process.
package enum OpenSSLRuntime {
    /// The version string that the library reports.
    package static var version: String {
        OpenSSL_version(OPENSSL_VERSION).map { String(cString: $0) } ?? "unknown"
    }

    /// Checks that the loaded OpenSSL supports asynchronous certificate verification.
    ///
    /// The headers are checked when Linnet is built; a process can still load an older library.
    ///
    /// - Throws: ``SecurityError/Code/openSSLTooOld`` below 3.0.2.
    package static func requireSupportedVersion() throws(SecurityError) {
        try require(OpenSSL_version_num())
    }

    static func require(_ number: UInt) throws(SecurityError) {
        guard number >= LINNET_OPENSSL_MINIMUM else {
            throw SecurityError(.openSSLTooOld, "Linnet needs OpenSSL 3.0.2 or newer; this process has \(version).")
        }
    }
}
