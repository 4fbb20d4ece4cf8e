/// What became of the part that a download was to go on from.
public enum DownloadResumption: Sendable, Hashable {
    /// The server sent the rest: it was put behind this many bytes.
    case resumed(at: Int64)
    /// The server sent all of it: the part was thrown away.
    case startedOver(Reason)

    /// Why a download had to start over.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        /// The reason's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// There is another version of the entity now, or the server sent a part of it and did not say that it is of the
        /// same one (RFC 9110, section 15.3.7.3).
        public static let entityChanged = Reason("entityChanged")
        /// The entity is the same as far as can be told, but the server does not send parts.
        public static let rangesIgnored = Reason("rangesIgnored")
        /// The entity ends before the range that was asked for (416): it is another one now.
        public static let rangeNotSatisfiable = Reason("rangeNotSatisfiable")
    }
}
