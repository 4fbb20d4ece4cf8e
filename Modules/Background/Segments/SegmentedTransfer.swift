internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSession
internal import Synchronization

/// A download by several requests at once.
struct SegmentedTransfer: Sendable {
    /// The number of bytes of the first request, which tells whether the server sends ranges.
    static let probe = 64 << 10

    let attempt: Attempt
    let file: PlacedFile
    let count: Int
    let box: HeadBox

    private var id: BackgroundTask.ID { attempt.record.id }

    /// Returns whether the file is complete; false if it must be downloaded by one request.
    func run() async throws(BackgroundError) -> Bool {
        let (folder, id, faults) = (attempt.folder, id, attempt.faults)
        let record = try await onFileThreads { () throws(BackgroundError) in
            SegmentRecord(of: id, in: folder)
        }
        let part: SegmentedPart
        if let record, record.url == attempt.definition.url {
            part = try await onFileThreads { () throws(BackgroundError) in
                file.removeParts(except: record.part)
                return try SegmentedPart(record, of: id, in: folder)
            }
        } else {
            guard let new = try await begin() else { return false }
            part = new
        }
        faults(.didStoreSegments)
        let meter = SegmentMeter(received: part.map.received, attempt.reportChecked)
        meter.report(part.map)
        do throws(BackgroundError) {
            try await transfer(part, meter)
        } catch {
            // One request downloads a version that came meanwhile, or a file whose ranges the server does not send.
            let isUseless = error.sessionCode == .invalidResumeData
            box.change { ($0.received, $0.total) = (isUseless ? 0 : part.map.received, part.map.total) }
            _ = try? await onFileThreads { () throws(BackgroundError) in
                if isUseless { part.discard() } else { try part.saveAtEnd() }
            }
            if isUseless { return false }
            throw error
        }
        try await onFileThreads { () throws(BackgroundError) in try part.move(to: file.whole) }
        faults(.didJoinSegments)
        return true
    }

    // MARK: The first request

    /// Requests the first bytes; returns nil if the server sends no ranges, or if the file is small.
    private func begin() async throws(BackgroundError) -> SegmentedPart? {
        let range = 0..<Int64(Self.probe)
        let call = try await attempt.call().headers(SegmentedEntity.requestFields(for: range))
        let response: StreamedResponse
        do throws(SessionError) {
            response = try await call.bytes()
        } catch {
            // The range of an empty file cannot be satisfied.
            if error.head?.status == .rangeNotSatisfiable { return nil }
            throw BackgroundError(error)
        }
        try await attempt.note(response.head, box)
        guard let entity = SegmentedEntity(response), let map = SegmentMap(total: entity.total, count: count) else {
            return nil
        }
        box.change { $0.status = HTTPResponse.Status.ok.code }
        let (record, folder, file) = (attempt.record, attempt.folder, file)
        let part = try await onFileThreads { () throws(BackgroundError) in
            file.removeParts()
            folder.storeDefinition(of: record)
            if record.definition.createsDirectories { try file.makeFolder() }
            return try SegmentedPart.create(
                file.segmentedPart, url: record.definition.url, entity: entity, map: map, record, in: folder)
        }
        // The first segment takes the bytes of this response, so that they need not be requested again.
        do throws(BackgroundError) {
            try await receive(response, entity, asked: range, of: 0, to: part, meter: nil)
        } catch  where error.sessionCode == .invalidResumeData {
            try await onFileThreads { () throws(BackgroundError) in part.discard() }
            return nil
        }
        try await onFileThreads { () throws(BackgroundError) in try part.noteBeginning() }
        return part
    }

    // MARK: Segments

    private func transfer(_ part: SegmentedPart, _ meter: SegmentMeter) async throws(BackgroundError) {
        let waiting = part.map.segments.enumerated().filter { !$0.element.rest.isEmpty }.map(\.offset)
        let pool = SegmentPool(waiting)
        await withTaskGroup { group in
            for _ in waiting {
                group.addTask {
                    while let index = pool.take() {
                        do throws(BackgroundError) {
                            try await transfer(index, of: part, meter)
                        } catch {
                            return pool.fail(index, error)
                        }
                    }
                    return true
                }
            }
            // The others stop at the first failure, and keep what they have.
            for await goesOn in group where !goesOn { group.cancelAll() }
        }
        if let failure = pool.failure { throw failure }
    }

    /// Transfers what a segment lacks. A request that fails after it has transferred bytes is repeated at once.
    private func transfer(
        _ index: Int, of part: SegmentedPart, _ meter: SegmentMeter
    ) async throws(BackgroundError) {
        while true {
            let rest = part.map.segments[index].rest
            guard !rest.isEmpty else { return }
            do throws(BackgroundError) {
                try await request(rest, of: index, part, meter)
            } catch {
                // Without progress, the retry policy of the task decides, with its waits: a loop here would not end.
                let hasProgress = part.map.segments[index].rest.count < rest.count
                guard hasProgress, error.sessionCode == .connectionLost, !Task.isCancelled else { throw error }
            }
        }
    }

    private func request(
        _ range: Range<Int64>, of index: Int, _ part: SegmentedPart, _ meter: SegmentMeter
    ) async throws(BackgroundError) {
        let entity = part.entity
        let call = try await attempt.call().headers(entity.requestFields(for: range))
        let response: StreamedResponse
        do throws(SessionError) {
            response = try await call.bytes()
        } catch {
            throw BackgroundError(error)
        }
        try await receive(response, entity, asked: range, of: index, to: part, meter: meter)
    }

    private func receive(
        _ response: StreamedResponse, _ entity: SegmentedEntity, asked: Range<Int64>, of index: Int,
        to part: SegmentedPart, meter: SegmentMeter?
    ) async throws(BackgroundError) {
        let failure = Mutex<BackgroundError?>(nil)
        let pace = attempt.pace
        do throws(SessionError) {
            let range = try entity.range(of: response, askedFor: asked)
            try await response.write(to: part.path, in: range) { [faults = attempt.faults] count in
                do throws(BackgroundError) {
                    let map = try part.didWrite(count, to: index)
                    faults(.didWriteSegment)
                    meter?.report(map)
                    await pace(count)
                    return true
                } catch {
                    failure.withLock { $0 = error }
                    return false
                }
            }
        } catch {
            if let failure = failure.withLock({ $0 }) { throw failure }
            guard error.code == .invalidResponse else { throw BackgroundError(error) }
            // The server sends another range, or a body of another length: no segment can be completed with it.
            throw BackgroundError(
                .transferFailed, error.message, sessionCode: .invalidResumeData, underlying: error)
        }
    }
}
