public import FoundationEssentials

/// A hook's decision on a response whose body was not read yet.
public enum ResponseDisposition: Sendable {
    /// Read the body.
    case allow
    /// Stop reading: the request fails with ``SessionError/Code/cancelled``; the error has the response's head.
    case cancel
    /// Write the body to a file, as ``HTTPCall/download(to:resuming:options:)`` does; ``TaskHooks/didFinishDownload`` is called
    /// at its end. The request then has no value, and ends with ``SessionError/Code/takenByHook``.
    case becomeDownload(to: URL, options: DownloadOptions = DownloadOptions())
    /// Pass the response to a function that reads its body as it arrives. The request waits for the function, has no value, and
    /// ends with ``SessionError/Code/takenByHook``.
    case becomeStream(@Sendable (StreamedResponse) async throws -> Void)
}
