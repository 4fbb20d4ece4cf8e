internal import COpenSSL
internal import LinnetSecurity

/// One `SSL_SESSION` that no connection uses.
///
/// It is a copy: OpenSSL marks a connection's own session as spent when the connection ends badly, on whichever thread
/// that happens.
final class TLSSession: Sendable {
    // SAFETY: not changed after init; duplicating it reads it only, and OpenSSL counts references with atomics.
    nonisolated(unsafe) private let pointer: OpaquePointer

    /// Nil when OpenSSL has no memory for it, or says that it cannot be resumed.
    init?(copying session: OpaquePointer) {
        guard let copy = SSL_SESSION_dup(session) else {
            OpenSSLErrorQueue.clear()
            return nil
        }
        guard SSL_SESSION_is_resumable(copy) == 1 else {
            SSL_SESSION_free(copy)
            return nil
        }
        pointer = copy
    }

    deinit {
        SSL_SESSION_free(pointer)
    }

    /// Makes a connection that has not begun its handshake offer the session; false when it cannot.
    func offer(on ssl: OpaquePointer) -> Bool {
        guard let copy = SSL_SESSION_dup(pointer) else {
            OpenSSLErrorQueue.clear()
            return false
        }
        // The connection adds a reference of its own.
        defer { SSL_SESSION_free(copy) }
        OpenSSLErrorQueue.clear()
        return SSL_set_session(ssl, copy) == 1
    }
}
