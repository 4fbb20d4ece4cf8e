public import FoundationEssentials

/// A hook's decision on a response whose body has not been read.
public enum ResponseDisposition: Sendable {
    /// Read the body.
    case allow
    /// Stop reading: the request fails with ``SessionError/Code/cancelled``; the error has the response's head.
    case cancel
    /// Write the body to a file, as ``HTTPCall/download(to:resuming:options:)`` does; ``TaskHooks/didFinishDownload`` is called
    /// at its end. The request then has no value, and ends with ``SessionError/Code/takenByHook``.
    case becomeDownload(to: URL, options: DownloadOptions = DownloadOptions())
    /// Have this function read the body as it arrives; the request waits for it, has no value, and ends with
    /// ``SessionError/Code/takenByHook``.
    case becomeStream(@Sendable (StreamedResponse) async throws -> Void)
}
