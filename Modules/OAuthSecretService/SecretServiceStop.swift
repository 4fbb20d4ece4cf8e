internal import CLibSecret
internal import LinnetMessages
internal import LinnetOAuth
internal import Synchronization

/// Stops one access to the service: at its time limit, or when its task is cancelled.
final class SecretServiceStop: Sendable {
    typealias Failure = UnsafeMutablePointer<OpaquePointer?>

    // SAFETY: the pointer is never changed, and g_cancellable_cancel() can be called on any thread at any time.
    private nonisolated(unsafe) let cancellable = g_cancellable_new()
    private let reason = Mutex<OAuthError?>(nil)

    deinit { linnet_secret_unref(cancellable.map { UnsafeMutableRawPointer($0) }) }

    /// Ends the call that runs, and all later ones, with an error. The first error counts.
    func end(with error: OAuthError) {
        reason.withLock { if $0 == nil { $0 = error } }
        g_cancellable_cancel(cancellable)
    }

    /// Makes a blocking call of the library, unless the access was stopped.
    ///
    /// - Throws: The error of the stop, or the library's.
    func perform<Value>(_ call: (OpaquePointer?, Failure) -> Value) throws(OAuthError) -> Value {
        if let error = reason.withLock({ $0 }) { throw error }
        var failure: OpaquePointer?
        let value = call(cancellable, &failure)
        guard let failure else { return value }
        defer { g_error_free(failure) }
        if let error = reason.withLock({ $0 }) { throw error }
        throw Self.error(failure)
    }

    private static func error(_ failure: OpaquePointer) -> OAuthError {
        let text = linnet_secret_details(failure)?.pointee.message.map { String(cString: $0) }
        let message = text?.oneLine ?? "without a message"
        if linnet_secret_is_locked(failure) != 0 {
            return OAuthError(.tokenStoreLocked, "The Secret Service is locked: \(message)")
        }
        if linnet_secret_is_absence(failure) != 0 {
            // A connection that has ended is not used again.
            secret_service_disconnect()
            return OAuthError(.tokenStoreUnavailable, "There is no Secret Service: \(message)")
        }
        return OAuthError(.tokenStoreFailed, "The Secret Service failed: \(message)")
    }
}
