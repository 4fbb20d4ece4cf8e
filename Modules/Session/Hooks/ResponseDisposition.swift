public import FoundationEssentials

/// What a hook says of a response whose body has not been read.
public enum ResponseDisposition: Sendable {
    /// Read it on.
    case allow
    /// Read no more: the request fails with ``SessionError/Code/cancelled``, and has the response's head in the error.
    case cancel
    /// Write the body to a file, as ``Session/download(for:to:options:hooks:)`` does; ``TaskHooks/didFinishDownload`` tells
    /// of its end. The request itself has no value then, and ends with ``SessionError/Code/takenByHook``.
    case becomeDownload(to: URL, options: DownloadOptions = DownloadOptions())
    /// Have this function read the body as it comes; the request waits for it, has no value then, and ends with
    /// ``SessionError/Code/takenByHook``.
    case becomeStream(@Sendable (StreamedResponse) async throws -> Void)
}
