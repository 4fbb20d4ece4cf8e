internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetSession

extension Attempt {
    /// The number of bytes of a response that are stored.
    private static let storedBody = 64 << 10

    /// Sends the file, which must be the one that was accepted.
    func upload(_ result: inout TransferResult) async throws(BackgroundError) {
        let path = definition.path
        let state = try await onFileThreads { () throws(BackgroundError) in FileState(path: path, followsLinks: true) }
        guard let state, state == definition.source else {
            throw BackgroundError(
                .sourceChanged,
                "The file \(path) \(state == nil ? "cannot be found" : "has changed since the upload was accepted").")
        }
        result.total = state.size
        let task = try call().body(file: definition.fileURL).task()
        task.onProgress { [report] in report($0.upload) }
        control.setStop { task.cancel() }
        faults(.willUpload)
        do {
            let response = try await task.value
            result.received = state.size
            result.status = response.status.code
            result.responseBody = Data(response.data.prefix(Self.storedBody))
        } catch {
            throw error.isOfSource(path) ? Self.changed(path, error) : BackgroundError(error)
        }
        faults(.didUpload)
    }

    private static func changed(_ path: String, _ error: SessionError) -> BackgroundError {
        BackgroundError(
            .sourceChanged, "The file \(path) changed while it was sent: \(error.message)", sessionCode: error.code,
            underlying: error)
    }
}

extension SessionError {
    fileprivate func isOfSource(_ path: String) -> Bool { code == .fileFailed }
}
