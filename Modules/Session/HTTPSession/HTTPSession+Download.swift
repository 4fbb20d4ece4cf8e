public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

extension HTTPSession {
    /// Sends GET, and writes the body of the response to a file, as ``Session/download(for:to:options:hooks:)`` does.
    ///
    /// ```swift
    /// try await client.download("images/linnet.iso", to: URL(filePath: "/srv/linnet.iso"))
    /// ```
    /// `options` are the request's, `downloadOptions` the file's.
    @discardableResult
    public func download(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), to destination: URL,
        downloadOptions: DownloadOptions = DownloadOptions()
    ) async throws(SessionError) -> Response<URL> {
        let request = try request(.get, path, parameters: parameters, headers: headers, options: options)
        return try await session.download(for: request, to: destination, options: downloadOptions)
    }
}
