internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetSession

extension Attempt {
    /// Sends the file, which must be the one that was accepted.
    func upload(_ result: inout TransferResult) async throws(BackgroundError) {
        let path = definition.path
        let state = try await onFileThreads { () throws(BackgroundError) in FileState(path: path, followsLinks: true) }
        guard let state, state == definition.source else {
            throw BackgroundError(
                .sourceChanged,
                "The file \(path) \(state == nil ? "cannot be found" : "has changed since the upload was accepted").")
        }
        try await checkContent(of: path, state)
        result.total = state.size
        let task = try await uploadCall(state.size).task()
        task.onProgress { [report] in report($0.upload) }
        control.setStop { task.cancel() }
        faults(.willUpload)
        do {
            let response = try await task.value
            result.received = state.size
            result.take(response.head, response.data, without: session.credentialNames)
        } catch {
            throw error.isOfSource ? Self.changed(path, error) : BackgroundError(error)
        }
        faults(.didUpload)
    }

    /// Checks what the options say about the file.
    private func checkContent(of path: String, _ state: FileState) async throws(BackgroundError) {
        if let expected = definition.expectedSize, expected != state.size {
            throw BackgroundError(
                .sourceChanged, "The file \(path) has \(state.size) bytes, and \(expected) were expected.")
        }
        guard let expected = definition.sha256 else { return }
        let digest = try await onFileThreads { () throws(BackgroundError) in
            do throws(FileFailure) {
                return try FileDigest.sha256(of: path, followsLinks: true)
            } catch {
                throw BackgroundError(.sourceChanged, "\(error)", underlying: error)
            }
        }
        guard digest == expected else {
            throw BackgroundError(
                .sourceChanged, "The SHA-256 of the file \(path) is \(digest), and \(expected) was expected.")
        }
    }

    /// The call with the file as its body, which is read no faster than the limits.
    private func uploadCall(_ size: Int64) async throws(BackgroundError) -> HTTPCall {
        let pace = pace
        let call = try await call()
        let request: SessionRequest
        do throws(SessionError) {
            request = try call.body(file: definition.fileURL).request()
        } catch {
            throw Self.changed(definition.path, error)
        }
        guard let body = request.body else { return call }
        return call.body(
            .stream(length: size, isReplayable: true) { PacedBodyReader(base: try body.makeReader(), pace: pace) },
            contentType: request.headerFields[.contentType])
    }

    private static func changed(_ path: String, _ error: SessionError) -> BackgroundError {
        BackgroundError(
            .sourceChanged, "The file \(path) changed while it was sent: \(error.message)", sessionCode: error.code,
            underlying: error)
    }
}

extension SessionError {
    /// Whether the file of the upload could not be read as it was.
    fileprivate var isOfSource: Bool { code == .fileFailed || code == .requestBodyFailed }
}
