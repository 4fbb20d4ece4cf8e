extension MockServer {
    /// Decides which connections and requests meet which faults.
    public struct FaultPlan: Sendable {
        /// Where a fault could set in: a connection that was just accepted, or a request whose head was just read.
        public struct Occasion: Sendable {
            /// The connection's number, counted from 0.
            public var connectionIndex: Int
            /// The request, without its body; nil when the connection was just accepted.
            public var request: RecordedRequest?
        }

        private let choose: @Sendable (Occasion) -> [Fault]

        /// A plan by a closure.
        ///
        /// It is asked once for each connection (only faults at ``Fault/Trigger/connect`` count then) and once for each
        /// request (all others). It is called on the server's thread and must not block.
        public init(_ choose: @escaping @Sendable (Occasion) -> [Fault]) {
            self.choose = choose
        }

        /// No faults.
        public static let none = FaultPlan { _ in [] }

        /// The same faults for every connection and request.
        public static func always(_ faults: Fault...) -> FaultPlan {
            FaultPlan { _ in faults }
        }

        /// Faults for the connections with these numbers, and the requests on them.
        public static func connections(_ indices: some Sequence<Int>, _ faults: Fault...) -> FaultPlan {
            let indices = Set(indices)
            return FaultPlan { indices.contains($0.connectionIndex) ? faults : [] }
        }

        /// Faults for requests with this path.
        public static func path(_ path: String, _ faults: Fault...) -> FaultPlan {
            FaultPlan { $0.request?.path == path ? faults : [] }
        }

        func faults(connectionIndex: Int) -> [Fault] {
            choose(Occasion(connectionIndex: connectionIndex, request: nil)).filter { $0.trigger == .connect }
        }

        func faults(for request: RecordedRequest) -> [Fault] {
            choose(Occasion(connectionIndex: request.connectionIndex, request: request))
                .filter { $0.trigger != .connect }
        }
    }
}
