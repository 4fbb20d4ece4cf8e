public import FoundationEssentials
public import LinnetSerialization
internal import LinnetTransport

extension Session {
    /// Sends a request, and writes the body of its response to a file.
    ///
    /// ```swift
    /// let response = try await session.download(for: Request(url: url), to: URL(filePath: "linnet.iso"))
    /// print(response.value.path)
    /// ```
    /// When the function returns, the complete file is at the destination; it never appears there incomplete. The bytes are
    /// written to a hidden file beside it, which is renamed at the end, and removed by any failure and by cancellation. Memory
    /// use does not grow with the file. The response's value is the file's URL; its body is empty.
    ///
    /// It runs like `response(for:serializer:)`. It fails with
    /// - ``SessionError/Code/unacceptableStatus`` and ``SessionError/Code/unacceptableContentType`` when the options'
    ///   validation refuses the response; up to 1 MiB of its body is in the error;
    /// - ``SessionError/Code/fileFailed`` when the file cannot be written; ``SessionError/fileFailure`` says why. Failures that
    ///   can be detected before, such as a missing folder, occur before anything is sent;
    /// - ``SessionError/Code/connectionLost`` when fewer bytes arrived than the response declared, and
    ///   ``SessionError/Code/invalidResponse`` when there were more;
    /// - ``SessionError/Code/invalidURL`` when the destination is not a file URL.
    public func download(
        for request: Request, to destination: URL, options: DownloadOptions = DownloadOptions(),
        hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<URL> {
        try await download(request, DownloadPlan(to: destination, options), hooks)
    }

    func download(
        _ request: Request, _ plan: DownloadPlan, _ hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<URL> {
        let hooks = hub.hooks(of: request, hooks, .download)
        guard hub.isReporting || hooks != nil else { return try await engine.download(request, plan) }
        return try await hub.reporting(request, .download, hooks) { () async throws(SessionError) in
            try await engine.download(request, plan, hooks: hooks)
        }
    }
}
