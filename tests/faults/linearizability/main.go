// Checks with Porcupine whether the operations on each memory of a history are linearizable.
//
//	check <history.jsonl>
//
// Each line of the history is an operation on one memory. Prints one line of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is one line of the history. A read is a get, or the part of a list or search result
// that concerns one memory.
type operation struct {
	Key     string `json:"key"`
	Kind    string `json:"kind"`    // save, read, update, delete
	Value   int    `json:"value"`   // the written or read value; 0 is "no such memory"
	Outcome string `json:"outcome"` // done, absent, unknown
	Call    int64  `json:"call"`
	Return  int64  `json:"return"`
	Client  int    `json:"client"`
}

// memory is the state of one memory. A memory cannot be updated before it is saved, and does not
// reappear after it is deleted.
type memory struct {
	saved bool
	value int
}

type report struct {
	Memories   int      `json:"memories"`
	Operations int      `json:"operations"`
	Violations []string `json:"violations"`
	Undecided  []string `json:"undecided"`
}

const timeout = 20 * time.Second

var model = porcupine.Model{
	Init: func() interface{} { return memory{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		return step(state.(memory), input.(operation))
	},
}

// step returns whether the operation is possible in the state, and the next state. An operation
// with an unknown outcome returns at the end of the history. If the operation never took effect, it
// can be linearized there, after every read.
func step(state memory, op operation) (bool, interface{}) {
	present := state.value != 0
	unknown := op.Outcome == "unknown"
	switch op.Kind {
	case "save":
		return !state.saved, memory{true, op.Value}
	case "read":
		return state.value == op.Value, state
	case "update":
		if op.Outcome == "absent" || (unknown && !present) {
			return !present, state
		}
		return present, memory{state.saved, op.Value}
	case "delete":
		if op.Outcome == "absent" {
			return !present, state
		}
		return present || unknown, memory{state.saved, 0}
	}
	return false, state
}

func main() {
	history, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	result := report{Memories: len(history), Violations: []string{}, Undecided: []string{}}
	for key, operations := range history {
		result.Operations += len(operations)
		switch porcupine.CheckOperationsTimeout(model, operations, timeout) {
		case porcupine.Illegal:
			result.Violations = append(result.Violations, key)
		case porcupine.Unknown:
			result.Undecided = append(result.Undecided, key)
		}
	}
	json.NewEncoder(os.Stdout).Encode(result)
}

func read(path string) (map[string][]porcupine.Operation, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	history := map[string][]porcupine.Operation{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var op operation
		if err := json.Unmarshal(lines.Bytes(), &op); err != nil {
			return nil, err
		}
		history[op.Key] = append(history[op.Key], porcupine.Operation{
			ClientId: op.Client, Input: op, Call: op.Call, Return: op.Return,
		})
	}
	return history, lines.Err()
}
