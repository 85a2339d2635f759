/** Plan mode as its two tools see it: the model looks around and plans, and a person decides about the plan. */
export interface PlanMode {
  /** Switches it on. Gives what the model has to know of it. */
  enter(): Promise<string>;
  /**
   * Gives the plan that is put to a person: the one that is given, which is kept from then on, or the one that is kept.
   * Throws what to do when there is none, or nothing to decide.
   */
  show(given: string | undefined): Promise<string>;
  /** A plan was approved. Keeps it, and goes back to the mode before unless whoever approved it has chosen one. */
  leave(plan: string): Promise<LeftPlan>;
}

export interface LeftPlan {
  /** The mode that is in force now. */
  mode: string;
  /** Where the plan is kept; undefined when that failed. */
  path: string | undefined;
}
