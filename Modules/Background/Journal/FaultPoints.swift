/// A step of the journal or of the file protocol. A process can end before or after each of them.
enum FaultPoint: String, Sendable, CaseIterable {
    case willAccept, didAccept
    case willStart, didStart
    case didReceiveHead, didStoreHead
    case didStoreSegments, didWriteSegment, didJoinSegments
    case didReceiveWhole, didCheckWhole
    case willPlace, didNotePlace, didMove, didSynchronizeFolder
    case willEnd, didEnd
    case willStop, didStop
    case willUpload, didUpload
    case willAdopt, didAdopt
    case didRemoveFiles
}

/// Lets tests end the process at a step. The default does nothing.
struct FaultPoints: Sendable {
    private let reach: (@Sendable (_ name: String) -> Void)?

    init(_ reach: (@Sendable (_ name: String) -> Void)?) { self.reach = reach }

    func callAsFunction(_ point: FaultPoint) { reach?(point.rawValue) }
}
