public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

extension MultipartForm {
    /// Adds a part without a file name and a content type, as a form's text field is sent.
    public mutating func append(_ data: Data, name: String) {
        append(FormPart(name: name, fileName: nil, contentType: nil, content: .data(data)))
    }

    /// Adds a text, in UTF-8.
    ///
    /// - Parameters:
    ///   - text: The content.
    ///   - name: The part's name.
    ///   - fileName: The name of the file that it is to the server, if it is one.
    ///   - contentType: Treated as ``append(_:name:fileName:contentType:)-(Data,_,_,_)`` does. The default is none, which
    ///     means `text/plain` in UTF-8 (RFC 7578, section 4.4).
    public mutating func append(
        _ text: String, name: String, fileName: String? = nil, contentType: String? = nil
    ) {
        append(Data(text.utf8), name: name, fileName: fileName, contentType: contentType)
    }

    /// Adds a part in memory that is a file to the server.
    ///
    /// A `contentType` that is no media type is kept as the form's fault: ``validate()`` and reading the body throw
    /// ``MultipartError/Code/invalidContentType``.
    public mutating func append(_ data: Data, name: String, fileName: String?, contentType: String?) {
        checkContentType(contentType, name: name)
        append(FormPart(name: name, fileName: fileName, contentType: contentType, content: .data(data)))
    }

    /// Adds a file, which is read as the body is sent.
    ///
    /// The size is taken now. If it is another when the file is read, reading throws
    /// ``MultipartError/Code/fileChanged`` before the last bytes, so that a request never says a wrong length.
    ///
    /// - Parameters:
    ///   - url: A `file:` URL of a regular file.
    ///   - name: The part's name.
    ///   - fileName: The default is the last component of the path.
    ///   - contentType: The default goes by the path's extension, in ``mediaTypes``.
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/unreadableFile`` or
    ///   ``MultipartError/Code/invalidContentType``.
    public mutating func append(
        fileAt url: URL,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) throws(MultipartError) {
        if let contentType, let error = contentTypeError(contentType, name: name) { throw error }
        append(
            FormPart(
                name: name,
                fileName: fileName ?? url.lastPathComponent,
                contentType: contentType ?? mediaTypes.mediaType(forPathExtension: url.pathExtension),
                content: .file(try file(at: url, name: name))
            )
        )
    }

    /// Adds a part with header fields of the caller's, and nothing but them.
    public mutating func append(headerFields: HTTPFields, body: Data) {
        append(FormPart(headerFields: headerFields, content: .data(body)))
    }

    /// Adds a part with header fields of the caller's, and nothing but them, from any body: a file, a stream, or the body
    /// of another form, which is how one multipart goes into another.
    ///
    /// ```swift
    /// var message = MultipartForm(subtype: .mixed)
    /// message.append(headerFields: [.contentType: album.contentType], body: album.makeBody())
    /// ```
    public mutating func append(headerFields: HTTPFields, body: HTTPBody) {
        append(FormPart(headerFields: headerFields, content: content(of: body)))
    }

    /// Data and files are known for what they are, so that the boundary is looked for and sizes are watched.
    func content(of body: HTTPBody) -> FormPart.Content {
        if let data = body.data { return .data(data) }
        return body.file.map(FormPart.Content.file) ?? .stream(body)
    }

    mutating func checkContentType(_ contentType: String?, name: String) {
        if let contentType, let error = contentTypeError(contentType, name: name) { record(error) }
    }

    private func file(at url: URL, name: String) throws(MultipartError) -> BodyFile {
        do {
            return try BodyFile(url)
        } catch {
            throw MultipartError(
                code: .unreadableFile, message: error.message, partName: name, partIndex: count,
                underlying: error.underlying ?? error)
        }
    }

    private func contentTypeError(_ contentType: String, name: String) -> MultipartError? {
        guard !MediaType.isWellFormed(contentType) else { return nil }
        return MultipartError(
            code: .invalidContentType,
            message:
                "The content type \(contentType.debugDescription) of the part \(name.debugDescription) is not a media type.",
            partName: name, partIndex: count
        )
    }
}
