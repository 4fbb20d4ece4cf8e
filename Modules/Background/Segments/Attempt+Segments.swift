internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetSession
internal import Synchronization

extension Attempt {
    /// Downloads the complete file by several requests at once.
    ///
    /// - Parameters:
    ///   - file: The places of the file.
    ///   - wasPlain: Whether an attempt before has begun the download with one request.
    ///   - box: The results of the attempt.
    /// - Returns: Whether the file is complete; false if it must be downloaded by one request.
    func transferSegments(
        to file: PlacedFile, wasPlain: Bool, _ box: HeadBox
    ) async throws(BackgroundError) -> Bool {
        guard let count = definition.segments, count > 1, definition.requestMethod == .get, definition.body == nil,
            !wasPlain
        else { return false }
        let transfer = SegmentedTransfer(attempt: self, file: file, count: count, box: box)
        let work = Task { () async -> Result<Bool, BackgroundError> in
            do throws(BackgroundError) {
                return .success(try await transfer.run())
            } catch {
                return .failure(error)
            }
        }
        control.setStop { work.cancel() }
        return try await work.value.get()
    }
}
