/// News of a background session.
///
/// The events of one task are delivered in order. An end that no program has seen yet is told again to the next program
/// that opens the session, so it is delivered at least once.
public struct BackgroundEvent: Sendable {
    /// The kind of an event.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The session found the task in its journal when it was opened: unfinished, or ended while no program was
        /// there.
        public static let adopted = Kind("adopted")
        /// The task was accepted, its state changed, or an attempt failed that will be repeated.
        public static let changed = Kind("changed")
        /// Bytes were transferred. Only the process that transfers them delivers it.
        public static let progressed = Kind("progressed")
        /// All adopted tasks were delivered. It comes once, after the last ``adopted``, and has no task.
        public static let didFinishEvents = Kind("didFinishEvents")
        /// This process begins to transfer the session's tasks. It has no task.
        public static let becameRunner = Kind("becameRunner")
    }

    /// The kind of the event.
    public let kind: Kind
    /// The task at the time of the event.
    public let task: BackgroundTask?
}
